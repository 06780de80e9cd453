// The whole page takes files: dropped on it, folders walked, or chosen.
const films = "3gp avi dv flv m2ts m4v mkv mov mp4 mpeg mpg mts mxf ogv ts webm wmv";
const sounds = "aac aif aiff caf flac m4a mp3 oga ogg opus w64 wav";
const others = "zip gif jpg jpeg png webp tif tiff";
const taken = new Set([films, sounds, others].join(" ").split(" "));

// isTaken tells by its name whether a file is something to make jobs of.
export const isTaken = (name) => taken.has(name.split(".").pop().toLowerCase());

export const isArchive = (name) => /\.zip$/i.test(name);

const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");

// listenForFiles calls take with the files, and with what was left out of folders.
export function listenForFiles(take) {
  const over = (on) => document.body.classList.toggle("over-page", on);
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    over(true);
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
  document.addEventListener("drop", async (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    over(false);
    const walk = new Walk();
    await walk.all(event.dataTransfer);
    take(walk.files, walk.left());
  });
  chosenBy("choose", "files", take);
  chosenBy("choose-folder", "folder", take);
}

function chosenBy(button, input, take) {
  const chooser = document.getElementById(input);
  document.getElementById(button).addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => {
    const walk = new Walk();
    for (const file of chooser.files) walk.add(file, file.webkitRelativePath !== "");
    chooser.value = ""; // the same file may be chosen once more
    take(walk.files, walk.left());
  });
}

// Walk gathers files. What is named itself may be of any kind; of a folder it is
// what can be made something of.
class Walk {
  files = [];
  hidden = 0;
  others = [];

  add(file, inFolder) {
    const hidden = (file.webkitRelativePath || file.name).split("/").some((part) => part.startsWith("."));
    if (!inFolder) this.files.push(file);
    else if (hidden) this.hidden++;
    else if (isTaken(file.name)) this.files.push(file);
    else this.others.push(file.name);
  }

  // all reads the entries at once: a drop forgets them after its event.
  async all(transfer) {
    const dropped = [...transfer.items].filter((item) => item.kind === "file")
      .map((item) => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
    for (const { entry, file } of dropped) {
      if (entry?.isDirectory) await this.folder(entry);
      else if (file) this.add(file, false);
    }
  }

  async folder(entry) {
    const reader = entry.createReader();
    const entries = [];
    for (let some; (some = await new Promise((ok, no) => reader.readEntries(ok, no))).length > 0;) entries.push(...some); // a hundred at a time
    entries.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
    for (const inside of entries) {
      if (inside.isDirectory && !inside.name.startsWith(".")) await this.folder(inside);
      else if (inside.isFile) this.add(await new Promise((ok, no) => inside.file(ok, no)), true);
    }
  }

  left() {
    const said = this.others.length > 3 ? [`${this.others.slice(0, 3).join(", ")} and ${this.others.length - 3} more`] : [...this.others];
    if (this.hidden > 0) said.push(this.hidden === 1 ? "1 hidden file" : `${this.hidden} hidden files`);
    return said.join(", ");
  }
}
