// What the form asks for, as the body of a job. What is empty is not sent.
import { chosen, fieldsOf, preset } from "./choice.js";

const form = document.getElementById("new");

// Wrong is what the form finds by itself: the same faults as the server lists.
class Wrong extends Error {
  constructor(errors) {
    super("Mend what is marked.");
    this.errors = errors;
  }
}

// requestOf is the job but for its inputs; it throws a Wrong.
export function requestOf(jobs) {
  const errors = [];
  const service = chosen();
  const request = { service: service.name };
  const params = paramsOf(service, errors);
  if (Object.keys(params).length > 0) request.params = params;
  Object.assign(request, ofTheJob(errors));
  if (request.output_name && jobs > 1) errors.push({ location: "output_name", message: "is for one job: leave it empty for several" });
  if (errors.length > 0) throw new Wrong(errors);
  return request;
}

function paramsOf(service, errors) {
  const params = {};
  const { name, params: fromPreset } = preset(service);
  if (name) params.preset = name;
  for (const field of fieldsOf(service)) {
    const location = `params.${field.name}`;
    const value = field.kind === "yes" ? ticked(field, fromPreset[field.name]) : written(field, location, errors);
    if (value !== undefined) params[field.name] = value;
  }
  return params;
}

// ticked is sent where it differs from what would hold without.
function ticked({ input, fallback }, fromPreset) {
  return input.checked === (fromPreset ?? (fallback === "true")) ? undefined : input.checked;
}

function written({ input, kind }, location, errors) {
  if (input.validity.badInput) errors.push({ location, message: "must be a number" });
  const text = input.value.trim();
  if (text === "") return undefined;
  switch (kind) {
    case "number":
    case "whole": return Number(text);
    case "rate": return /^\d+$/.test(text) ? Number(text) : text;
    case "json": return parsed(text, location, errors);
  }
  return text;
}

function parsed(text, location, errors) {
  try {
    return JSON.parse(text);
  } catch (err) {
    errors.push({ location, message: `must be JSON: ${err.message}` });
    return null;
  }
}

function ofTheJob(errors) {
  const job = {};
  for (const name of ["priority", "max_attempts"]) set(job, name, number(name, errors));
  for (const name of ["output_name", "webhook_url"]) set(job, name, text(name));
  const deadline = form.elements.admission_deadline;
  if (deadline.validity.badInput) errors.push({ location: deadline.name, message: "must be a date and a time" });
  if (deadline.value) job.admission_deadline = new Date(deadline.value).toISOString();
  const tags = form.elements["requires.tags"].value.split(",").map((tag) => tag.trim()).filter(Boolean);
  const memory = number("requires.min_memory_gb", errors);
  if (tags.length > 0 || memory !== undefined) job.requires = { ...(tags.length > 0 && { tags }), ...(memory !== undefined && { min_memory_gb: memory }) };
  set(job, "labels", labels(errors));
  return job;
}

function set(job, name, value) { if (value !== undefined) job[name] = value; }

function text(name) { return form.elements[name].value.trim() || undefined; }

function number(name, errors) {
  const input = form.elements[name];
  if (input.validity.badInput) errors.push({ location: name, message: "must be a number" });
  return input.value === "" ? undefined : Number(input.value);
}

function labels(errors) {
  const all = {};
  for (const line of form.elements.labels.value.split("\n").map((line) => line.trim()).filter(Boolean)) {
    const at = line.indexOf("=");
    if (at < 1) errors.push({ location: "labels", message: `must be key=value, a line each, and “${line}” is not` });
    else all[line.slice(0, at)] = line.slice(at + 1);
  }
  return Object.keys(all).length > 0 ? all : undefined;
}
