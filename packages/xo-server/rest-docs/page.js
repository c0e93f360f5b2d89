const methods = ["get", "post", "put", "patch", "delete"];

const answer = await fetch("/rest/v0/docs/swagger.json");
const specification = await answer.json();
const list = document.querySelector("#operations");
const find = document.querySelector("#find");

const entries = Object.entries(specification.paths).flatMap(([path, item]) =>
  methods
    .filter((method) => item[method] !== undefined)
    .map((method) => ({ path, method, operation: item[method] })),
);
const tags = [...new Set(entries.map(({ operation }) => operation.tags[0]))];

find.addEventListener("input", () => show(find.value.trim().toLowerCase()));
show("");

function show(word) {
  const isAsked = ({ path, operation }) =>
    `${path} ${operation.operationId} ${operation.summary}`
      .toLowerCase()
      .includes(word);
  list.replaceChildren(
    ...tags.toSorted().flatMap((tag) => {
      const fitting = entries.filter(
        (entry) => entry.operation.tags[0] === tag && isAsked(entry),
      );
      return fitting.length === 0
        ? []
        : [element("h2", {}, tag), ...fitting.map(describe)];
    }),
  );
}

function describe({ path, method, operation }) {
  const { summary, parameters = [], requestBody, responses } = operation;
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      element("span", { className: "method" }, method),
      element("code", {}, `/rest/v0${path}`),
      element("span", { className: "what" }, summary),
    ),
    ...tableOf(parameters.map(resolve)),
    ...bodyOf(requestBody),
    element("h3", {}, "Answers"),
    ...Object.entries(responses).flatMap(([status, response]) =>
      answerOf(status, response),
    ),
  );
}

function resolve(parameter) {
  const name = parameter.$ref?.split("/").at(-1);
  return name === undefined
    ? parameter
    : specification.components.parameters[name];
}

function tableOf(parameters) {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: place, description = "", schema }) =>
    element(
      "tr",
      {},
      element("td", {}, element("code", {}, name)),
      element("td", {}, place),
      element("td", {}, schema?.type ?? ""),
      element("td", {}, description || (schema?.description ?? "")),
    ),
  );
  return [element("h3", {}, "Parameters"), element("table", {}, ...rows)];
}

function bodyOf(requestBody) {
  const schema = requestBody?.content["application/json"].schema;
  return schema === undefined
    ? []
    : [element("h3", {}, "Body"), element("pre", {}, pretty(schema))];
}

function answerOf(status, { description, content = {} }) {
  const examples = Object.values(content["application/json"]?.examples ?? {});
  return [
    element("p", {}, element("code", {}, status), ` ${description}`),
    ...examples.map(({ value }) => element("pre", {}, pretty(value))),
  ];
}

function pretty(value) {
  return JSON.stringify(value, null, 2);
}

/** Texts are put in as texts: nothing of the document is read as HTML. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
