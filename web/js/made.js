// What has come of the files: a link to each job, and why the others have none.
import { count, shown } from "./words.js";

const at = (id) => document.getElementById(id);

// showMade takes the jobs, the uploads of each, and those that have failed.
export function showMade(jobs, groups, failed) {
  at("made-title").textContent = jobs.length === 1 ? "The job is made." : `${count(jobs.length, "job")} are made.`;
  at("made-jobs").replaceChildren(...jobs.map((job, i) => line(linkTo(job, groups[i]))));
  at("not-made").replaceChildren(...failed.map(({ file, said }) => line("No job of ", named(file.name), `: ${said}`)));
  at("new").hidden = true;
  at("made").hidden = false;
  at("made-title").focus();
}

export function hideMade() {
  at("made").hidden = true;
  at("new").hidden = false;
  at("choose").focus();
}

function linkTo(job, uploads) {
  const link = document.createElement("a");
  link.href = `/jobs/${job.id}`;
  link.title = `of ${uploads[0].file.name}${uploads.length > 1 ? ` and ${count(uploads.length - 1, "more file")}` : ""}`;
  link.append(named(job.output_name));
  return link;
}

// named keeps a name's direction to itself.
function named(name) {
  const element = document.createElement("bdi");
  element.textContent = shown(name);
  return element;
}

function line(...parts) {
  const item = document.createElement("li");
  item.append(...parts);
  return item;
}
