// New job: files come, a service is chosen, jobs are made.
import { chosen, showChoice } from "./choice.js";
import { clearFault, clearFaults, showFaults } from "./faults.js";
import { Files } from "./files.js";
import { isArchive, listenForFiles } from "./drop.js";
import { curlLines, rendermacLine } from "./lines.js";
import { hideMade, showMade } from "./made.js";
import { Memory } from "./memory.js";
import { showReckoned } from "./reckon.js";
import { requestOf } from "./request.js";
import { say } from "./say.js";
import { jobsOf, submit } from "./submit.js";
import { count, shown } from "./words.js";

const form = document.getElementById("new");
const at = (id) => document.getElementById(id);
const memory = new Memory(form.dataset.account);
const files = new Files(at("rows"), { memory, elsewhere: form.dataset.store }, changed);
let whenReady = false; // whether jobs are to be made once all files are here
let failedBefore = 0; // how many files had failed when that was said
let making = false;

// take begins anew where the jobs of the files before are made.
function take(some, left) {
  if (!at("made").hidden) beginAnew();
  at("remembered").textContent = "";
  files.add(some);
  at("left-out").hidden = left === "";
  at("left-out").textContent = shown(`Left out of the folder: ${left}.`);
}

function beginAnew() {
  files.clear();
  hideMade();
}

// changed follows whatever changes in the form or the files.
function changed() {
  if (whenReady && files.unfinished() === 0) {
    whenReady = false;
    if (files.failed() > failedBefore) say("A file has failed meanwhile, so no jobs are made yet.");
    else make();
  }
  showButton();
  showLines();
  showReckoned(chosen().offer, files.ready());
}

function showButton() {
  const { joins, min, max } = chosen();
  const all = files.ready().length + files.unfinished();
  const wait = files.unfinished() > 0 ? " when the uploads are done" : "";
  const jobs = joins ? "the job" : all === 1 ? "the job" : count(all, "job");
  const lacks = all === 0 ? "Drop or choose a file first." : all < min ? `It takes ${count(min, "file")} at least.` : all > max && joins ? `It takes ${max} files at most.` : "";
  at("make").disabled = making || lacks !== "";
  at("make").textContent = whenReady ? "Do not make them yet" : all === 0 ? "Make the job" : `Make ${jobs}${wait}`;
  at("make-says").textContent = making ? "Being made…" : lacks || noteOf(all);
}

function noteOf(all) {
  const { archive, joins } = chosen();
  if (whenReady) return `Makes ${joins ? "the job" : count(all, "job")} when ${count(files.unfinished(), "upload")} ${files.unfinished() === 1 ? "is" : "are"} done.`;
  const others = files.uploads().filter(({ file }) => isArchive(file.name) !== (archive !== "")).length;
  if (others > 0) return archive ? `It takes a zip, and ${count(others, "file")} ${others === 1 ? "is" : "are"} none.` : `${count(others, "file")} ${others === 1 ? "is a zip" : "are zips"}: the services for images and for Remotion take those.`;
  return files.failed() > 0 ? `${count(files.failed(), "file")} failed and ${files.failed() === 1 ? "gets" : "get"} no job.` : "";
}

function showLines() {
  let request;
  try { request = requestOf(1); } catch { /* the fields say it when the jobs are made */ return; }
  const names = files.uploads().filter(({ state }) => state !== "failed").map(({ file }) => file.webkitRelativePath || file.name);
  if (names.length === 0) names.push("FILE");
  const lines = { rendermac: rendermacLine(request, names), curl: curlLines(request, names, chosen().joins) };
  for (const [name, text] of Object.entries(lines)) {
    at(`line-${name}`).textContent = text;
    at(`copy-${name}`).dataset.copy = text;
  }
}

function pressed(event) {
  event.preventDefault();
  clearFaults();
  failedBefore = files.failed();
  if (files.unfinished() > 0) whenReady = !whenReady;
  else make();
  changed();
}

async function make() {
  const { joins } = chosen();
  const uploads = files.ready();
  const groups = joins ? [uploads] : uploads.map((upload) => [upload]); // the files of each job
  making = true;
  showButton();
  try {
    const jobs = await submit(jobsOf(requestOf(groups.length), uploads, joins));
    for (const { file } of uploads) memory.forget(file);
    showMade(jobs, groups, files.uploads().filter(({ state }) => state === "failed"));
  } catch (err) {
    showFaults(err, groups);
  }
  making = false;
  showButton();
}

function edited({ target }) {
  if (target.type === "checkbox") target.dataset.touched = "yes";
  if (target.type === "radio") {
    showChoice();
    files.join(chosen().joins);
    clearFaults();
  }
  clearFault(target);
  changed();
}

form.addEventListener("input", edited);
form.addEventListener("submit", pressed);
at("more-new").addEventListener("click", beginAnew);
at("more-same").addEventListener("click", hideMade);
listenForFiles(take);
memory.clear();
at("remembered").textContent = shown(memory.said());
showChoice();
files.join(chosen().joins);
changed();
