// The sheet for another priority.
document.querySelector("[data-act=priority]").click();
document.querySelector("[data-canned]").remove();
