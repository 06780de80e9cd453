// The sheet before a job is cancelled.
document.querySelector("[data-act=cancel]").click();
document.querySelector("[data-canned]").remove();
