import { $, addChange, bytes, element, indent, parse, showJson, showTable, tell } from "./view.js";

const state = { rows: [], next: null, question: null, watch: null, version: null, collections: [], turn: 0 };

// ---- Requests

async function ask(path, options = {}) {
  const answer = await fetch(path, options);
  if (answer.ok)
    return answer;
  const text = await answer.text();
  let detail = text;
  try {
    detail = JSON.parse(text).detail ?? text;
  } catch {
    // An answer of something before the server.
  }

  throw Object.assign(new Error(detail || `The server has answered ${answer.status}.`), { status: answer.status });
}

const collectionPath = () => `collections/${encodeURIComponent($("collection").value)}`;
const documentPath = id => `${collectionPath()}/documents/${encodeURIComponent(id)}`;

/** Runs an action, and shows what it fails with. */
async function attempt(place, action) {
  tell(place, null);
  try {
    return await action();
  } catch (failure) {
    tell(place, failure instanceof TypeError ? "The server does not answer." : failure.message);
    return undefined;
  }
}

// ---- Collections

async function loadCollections(chosen) {
  const { collections } = await (await ask("collections")).json();
  state.collections = collections;
  const select = $("collection");
  const keep = chosen ?? select.value;
  select.replaceChildren(...collections.map(each => element("option", { value: each.name }, each.name)));
  if (collections.some(each => each.name === keep))
    select.value = keep;
  select.disabled = collections.length === 0;
  for (const id of ["open-settings", "new-document", "watch"])
    $(id).disabled = collections.length === 0;
  showSize();
}

function current() {
  return state.collections.find(each => each.name === $("collection").value);
}

function showSize() {
  const collection = current();
  $("size").textContent = collection
    ? `${collection.documents.toLocaleString("en")} documents, ${bytes(collection.bytes)}, ${collection.indexes.length} ${collection.indexes.length === 1 ? "index" : "indexes"}`
    : "There is no collection yet: create one.";
  $("modes").hidden = !collection?.textFields?.length;
  if ($("modes").hidden)
    document.querySelector("input[name=mode][value=query]").checked = true;
}

// ---- Results

const mode = () => document.querySelector("input[name=mode]:checked").value;

async function run() {
  if (!current())
    return;
  $("text-label").textContent = mode() === "search" ? "Words" : "Query";
  state.question = { path: collectionPath(), mode: mode(), text: $("text").value };
  history.replaceState(null, "", `#${new URLSearchParams({ collection: $("collection").value, q: state.question.text })}`);
  const turn = ++state.turn;
  await attempt("message", async () => {
    const page = await load(null);

    // An answer that arrives behind that of a later question is not shown.
    if (turn === state.turn) {
      state.rows = page.documents;
      show(page);
    }
  });
}

async function load(after) {
  const { path, mode, text } = state.question;
  const query = new URLSearchParams({ q: text });
  if (after)
    query.set("after", after);
  return parse(await (await ask(`${path}/${mode}?${query}`)).text());
}

async function loadMore() {
  await attempt("message", async () => {
    const turn = state.turn;
    const page = await load(state.next);
    if (turn !== state.turn)
      return;
    const first = state.rows.length;
    state.rows = [...state.rows, ...page.documents];
    show(page);
    document.querySelectorAll("#found button.link")[first]?.focus();
  });
}

function show(page) {
  state.next = page.next;
  $("more").hidden = !page.next;
  $("summary").textContent = `${state.rows.length} ${state.rows.length === 1 ? "document" : "documents"}${page.next ? ", and there may be more" : ""}; ` +
    `${page.examined.toLocaleString("en")} looked at in ${page.milliseconds} ms`;
  $("plan").hidden = false;
  $("plan-text").textContent = page.plan;
  redraw();
}

function redraw() {
  const isTable = document.querySelector("input[name=view]:checked").value === "table";
  if (state.rows.length === 0)
    $("found").replaceChildren();
  else
    (isTable ? showTable : showJson)($("found"), state.rows, open);
}

// ---- The editor

async function open(id) {
  await attempt("message", async () => {
    const answer = await ask(documentPath(id), { cache: "no-store" });
    edit(id, indent(await answer.text()), answer.headers.get("ETag"));
    $("editor").showModal();
    await loadAttachments();
  });
}

function edit(id, text, version) {
  state.version = version;
  $("editor-title").textContent = version ? "Document" : "New document";
  $("document-id").value = id;
  $("document-id").readOnly = version !== null;
  $("document-json").value = text;
  $("version").textContent = version ? `version ${version.replaceAll('"', "")}` : "";
  $("conflict").hidden = true;
  $("delete-document").hidden = $("attachments").hidden = version === null;
  $("files").replaceChildren();
  $("upload").value = "";
  $("upload-state").textContent = "";
  tell("editor-message", null);
}

async function save(headers) {
  const id = $("document-id").value;
  const text = $("document-json").value;
  await attempt("editor-message", async () => {
    try {
      await ask(documentPath(id), { method: "PUT", body: text, headers: { "Content-Type": "application/json", ...headers } });
    } catch (failure) {
      if (failure.status === 412) {
        await showConflict(id);
        return;
      }

      throw failure;
    }

    $("editor").close();
    await refresh();
  });
}

async function showConflict(id) {
  const newest = await ask(documentPath(id), { cache: "no-store" }).catch(failure => failure);
  if (newest.status === 404) {
    state.version = null;
    throw new Error("The document was deleted since you opened it. Save stores it again.");
  }

  if (newest instanceof Error)
    throw newest;
  if (state.version === null)
    throw new Error(`There is a document '${id}' already. Choose another id, or open that one.`);
  const version = newest.headers.get("ETag");
  const text = indent(await newest.text());
  $("newest").textContent = text;
  $("conflict").hidden = false;
  $("take-newest").onclick = () => { edit(id, text, version); loadAttachments(); $("document-json").focus(); };
  $("keep-mine").onclick = () => save({ "If-Match": version });
  $("take-newest").focus();
}

const expectation = () => state.version === null ? { "If-None-Match": "*" } : { "If-Match": state.version };

async function remove() {
  const id = $("document-id").value;
  if (!confirm(`Delete the document '${id}' and its attachments?`))
    return;
  await attempt("editor-message", async () => {
    await ask(documentPath(id), { method: "DELETE", headers: expectation() });
    $("editor").close();
    await refresh();
  });
}

async function refresh() {
  await loadCollections();
  await run();
}

// ---- Attachments

async function loadAttachments() {
  const path = `${documentPath($("document-id").value)}/attachments`;
  await attempt("editor-message", async () => {
    const { attachments } = await (await ask(path)).json();
    $("files").replaceChildren(...attachments.map(file => element("li", {},
      element("a", { href: `${path}/${encodeURIComponent(file.name)}`, download: file.name }, file.name),
      element("span", { className: "quiet" }, bytes(file.length)),
      element("button", { type: "button", className: "danger", ariaLabel: `Delete ${file.name}`, onclick: () => removeAttachment(path, file.name) }, "Delete"))));
  });
}

async function upload() {
  const file = $("upload").files[0];
  if (!file)
    return;
  const path = `${documentPath($("document-id").value)}/attachments`;
  $("upload-state").textContent = `Uploading ${file.name}…`;
  const stored = await attempt("editor-message", () => ask(`${path}/${encodeURIComponent(file.name)}`,
    { method: "PUT", body: file, headers: { "Content-Type": file.type || "application/octet-stream" } }));
  $("upload-state").textContent = stored ? `${file.name} is attached.` : "";
  $("upload").value = "";
  if (stored)
    await loadAttachments();
}

async function removeAttachment(path, name) {
  if (!confirm(`Delete the attachment '${name}'?`))
    return;
  await attempt("editor-message", () => ask(`${path}/${encodeURIComponent(name)}`, { method: "DELETE" }));
  await loadAttachments();
}

// ---- Settings

function showSettings() {
  const { indexes, textFields, expiryPath } = current();
  $("index-list").replaceChildren(...(indexes.length === 0 ? [element("li", { className: "quiet" }, "There is none: queries look at all documents.")] : indexes.map(index =>
    element("li", {}, element("code", {}, index.path), element("span", { className: "quiet" }, `${index.state}, ${index.keys.toLocaleString("en")} keys`),
      element("button", { type: "button", className: "danger", ariaLabel: `Remove the index on ${index.path}`, onclick: () => changeIndex("DELETE", index.path) }, "Remove")))));
  $("words-paths").value = textFields.join("\n");
  $("expiry-path").value = expiryPath ?? "";
}

/** Changes a setting. The server answers when all documents fit it. */
async function change(path, method, done) {
  const buttons = document.querySelectorAll("#settings .bar button, #index-list button");
  for (const button of buttons)
    button.disabled = true;
  $("settings-state").textContent = "Working…";
  const changed = await attempt("settings-message", () => ask(`${collectionPath()}/${path}`, { method }));
  for (const button of buttons)
    button.disabled = false;
  $("settings-state").textContent = changed ? done : "";
  if (!changed)
    return false;
  await loadCollections();
  showSettings();
  await run();
  return true;
}

async function changeIndex(method, path) {
  if (await change(`indexes?${new URLSearchParams({ path })}`, method, method === "PUT" ? "The index has all documents." : "The index was removed."))
    $("index-path").value = "";
}

function changeWords() {
  const paths = $("words-paths").value.split("\n").map(path => path.trim()).filter(path => path !== "");
  const query = new URLSearchParams(paths.map(path => ["path", path]));
  return change(`text?${query}`, "PUT", paths.length > 0 ? "The words of all documents can be searched for." : "Words are not searched for any more.");
}

function changeExpiry() {
  const path = $("expiry-path").value.trim();
  if (path !== "" && !confirm(`Delete documents of '${$("collection").value}' when the time at '${path}' has come?`))
    return undefined;
  return path === ""
    ? change("expiry", "DELETE", "No document ends.")
    : change(`expiry?${new URLSearchParams({ path })}`, "PUT", "Documents end at their time.");
}

// ---- Live changes

function stopWatch() {
  state.watch?.close();
  state.watch = null;
  $("watch").setAttribute("aria-pressed", "false");
  $("live").hidden = true;
}

function startWatch() {
  const query = new URLSearchParams(mode() === "query" ? { q: $("text").value.replace(/\s*\b(order by|take)\b[^"']*$/, "") } : {});
  const watch = new EventSource(`${collectionPath()}/watch?${query}`);
  state.watch = watch;
  $("watch").setAttribute("aria-pressed", "true");
  $("changes").replaceChildren();
  $("live").hidden = false;
  const say = text => { $("live-state").textContent = text; };
  say("Connecting…");
  const scope = query.get("q") ? `Watching ${$("collection").value}: ${query.get("q")}` : `Watching all of ${$("collection").value}`;
  watch.addEventListener("begin", () => say(scope));
  watch.addEventListener("put", event => showChange("put", event));
  watch.addEventListener("delete", event => showChange("delete", event));
  watch.addEventListener("end", () => { watch.close(); say("The collection was deleted."); });
  watch.addEventListener("lost", event => { watch.close(); say(JSON.parse(event.data)); });
  watch.onerror = () => say(watch.readyState === EventSource.CLOSED
    ? "The server has refused to watch: the query may be wrong."
    : "The connection was lost. It is opened again…");
}

function showChange(kind, event) {
  const { id, document: json } = parse(event.data);
  addChange($("changes"), kind, id, json, open);
}

// ---- Wiring

function dialog(name, opener, before) {
  $(`close-${name}`).onclick = () => $(name).close();
  if (opener)
    $(opener).onclick = () => { before?.(); $(name).showModal(); };
}

dialog("editor");
dialog("settings", "open-settings", () => { tell("settings-message", null); $("settings-state").textContent = ""; showSettings(); });
dialog("creation", "add-collection", () => { tell("creation-message", null); $("creation-name").value = ""; });

$("ask").onsubmit = event => { event.preventDefault(); run(); };
$("text").onkeydown = event => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    run();
  }
};
$("more").onclick = async () => {
  $("more").disabled = true;
  await loadMore();
  $("more").disabled = false;
};
$("collection").onchange = () => { stopWatch(); $("text").value = ""; showSize(); run(); };
for (const choice of document.querySelectorAll("input[name=view]"))
  choice.onchange = redraw;
for (const choice of document.querySelectorAll("input[name=mode]"))
  choice.onchange = () => { $("text-label").textContent = mode() === "search" ? "Words" : "Query"; };
$("watch").onclick = () => state.watch ? stopWatch() : startWatch();
$("new-document").onclick = () => { edit("", "{\n  \n}", null); $("editor").showModal(); $("document-id").focus(); };
$("editor-form").onsubmit = event => { event.preventDefault(); save(expectation()); };
$("delete-document").onclick = remove;
$("upload").onchange = upload;
$("index-form").onsubmit = event => { event.preventDefault(); changeIndex("PUT", $("index-path").value); };
$("words-form").onsubmit = event => { event.preventDefault(); changeWords(); };
$("expiry-form").onsubmit = event => { event.preventDefault(); changeExpiry(); };
$("creation-form").onsubmit = event => {
  event.preventDefault();
  const name = $("creation-name").value;
  attempt("creation-message", async () => {
    await ask(`collections/${encodeURIComponent(name)}`, { method: "PUT" });
    $("creation").close();
    stopWatch();
    await loadCollections(name);
    $("text").value = "";
    await run();
  });
};

const start = new URLSearchParams(location.hash.slice(1));
attempt("message", async () => {
  await loadCollections(start.get("collection"));
  $("text").value = start.get("q") ?? "";
  await run();
});
