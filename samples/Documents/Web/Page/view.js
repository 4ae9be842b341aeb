// What the page shows. All that comes from documents becomes text nodes: never markup.

const maxColumns = 8;
const maxCell = 160;

export const $ = id => document.getElementById(id);

/** Creates an element with properties and children. Strings become text. */
export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Shows a message, or hides its place. */
export function tell(id, text) {
  $(id).textContent = text ?? "";
  $(id).hidden = !text;
}

/** Reads JSON, and keeps numbers that a double would change as they were written. */
export function parse(text) {
  return JSON.parse(text, (key, value, context) =>
    typeof value === "number" && JSON.rawJSON && context?.source && String(value) !== context.source ? JSON.rawJSON(context.source) : value);
}

/** Breaks JSON into indented lines, and changes none of its values. */
export function indent(text) {
  let depth = 0;
  let result = "";
  const line = () => "\n" + "  ".repeat(depth);
  for (const token of text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []) {
    if (token === "{" || token === "[") {
      depth++;
      result += token + line();
    } else if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      result = /[{[]\s*$/.test(result) ? result.trimEnd() + token : result + line() + token;
    } else {
      result += token === "," ? token + line() : token === ":" ? ": " : token;
    }
  }

  return result;
}

export const bytes = count => count < 1000 ? `${count} bytes` : count < 1e6 ? `${(count / 1e3).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;

const isNumber = value => typeof value === "number" || (JSON.isRawJSON?.(value) ?? false);

function textOf(value) {
  const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= maxCell ? text : text.slice(0, maxCell) + "…";
}

function columnsOf(rows) {
  const counts = new Map();
  for (const row of rows)
    for (const name of Object.keys(row.document))
      if (name !== "id")
        counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts.keys()].slice(0, maxColumns);
}

function opener(row, open) {
  return element("button", { type: "button", className: "link", title: "Open the document", onclick: () => open(row.id) }, row.id);
}

export function showTable(place, rows, open) {
  const columns = columnsOf(rows);
  const numeric = new Set(columns.filter(name => rows.every(row => row.document[name] === undefined || isNumber(row.document[name]))));
  const head = element("tr", {}, ...["id", ...columns].map(name => element("th", { scope: "col", className: numeric.has(name) ? "number" : "" }, name)));
  const body = rows.map(row => element("tr", {}, element("td", {}, opener(row, open)), ...columns.map(name => {
    const value = row.document[name];
    const kind = value === undefined || value === null ? "none" : numeric.has(name) ? "number" : "";
    return element("td", { className: kind, title: textOf(value) }, value === undefined ? "" : textOf(value));
  })));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  const scroll = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Documents" }, table);
  place.replaceChildren(scroll);
}

export function showJson(place, rows, open) {
  place.replaceChildren(element("ul", { className: "json" }, ...rows.map(row =>
    element("li", {}, opener(row, open), element("pre", {}, indent(JSON.stringify(row.document)))))));
}

export function addChange(list, kind, id, document, open) {
  const item = element("li", {}, element("span", { className: `kind ${kind}` }, kind === "delete" ? "deleted" : "stored"));
  if (id === null || id === undefined)
    item.append("a document that is too long to be shown");
  else if (kind === "delete")
    item.append(element("span", { className: "text" }, id));
  else
    item.append(opener({ id }, open), element("span", { className: "text" }, document === undefined ? "" : textOf(document)));
  list.prepend(item);
  while (list.children.length > 200)
    list.lastChild.remove();
}
