import { errorTable } from "@xo-server/model";
import { operations, privilegeActions } from "@xo-server/xo-server";

/** Path of each page that is written from the source, and how. */
export const referencePages: Readonly<Record<string, () => string>> = {
  "docs/errors.md": toErrorPage,
  "docs/operations.md": toOperationPage,
  "docs/privileges.md": toPrivilegePage,
};

/** The page of error codes, from the table of errors. */
function toErrorPage(): string {
  const rows = Object.entries(errorTable)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, { message, http, jsonRpc }]) => [
      `\`${code}\``,
      String(http),
      String(jsonRpc),
      message,
    ]);
  return `# Error codes

Every error of the server's own has a stable code. The REST API answers with the HTTP
status and \`{ "error": message, "data": { ... } }\`, JSON-RPC with the number and
\`data.code\`, the command line with the message and an exit code. Names in braces are
members of \`data\`.

An error that a pool returns keeps XAPI's own code and parameters: JSON-RPC \`-32000\` with
\`message\` \`CODE(parameters)\`, \`data.code\`, \`data.params\`; REST 502. Some
conditions have a row of their own below (\`VM_BAD_POWER_STATE\`, \`VDI_IN_USE\`,
\`NO_HOSTS_AVAILABLE\` ...): they are reported with its code and status.

This page is written by \`npm run docs\` from
[packages/model/src/errors.ts](../packages/model/src/errors.ts).

${toTable(["code", "HTTP", "JSON-RPC", "message"], rows)}`;
}

/** The page of operations, from their declarations. */
function toOperationPage(): string {
  const byNoun = new Map<string, string[]>();
  for (const operation of byName()) {
    const [noun = ""] = operation.name.split(".");
    byNoun.set(noun, [...(byNoun.get(noun) ?? []), toEntry(operation)]);
  }
  const sections = [...byNoun].map(
    ([noun, entries]) => `## ${noun}\n\n${entries.join("\n")}\n`,
  );
  return `# Operations

All operations of the API: called by name over JSON-RPC and with \`xo-cli call\`, and by
path over REST (below \`/rest/v0\`) if they have one. \`xo-cli methods WORDS\` searches them,
\`xo-cli methods NAME\` describes one with the types of its parameters, as does the OpenAPI
document at \`/rest/v0/docs/swagger.json\`. [The API](api.md) describes calls, lists,
notifications and uploads; [privileges](privileges.md) lists the rights that operations need.

This page is written by \`npm run docs\` from the declarations of the operations.

${sections.join("\n")}`;
}

function toEntry({
  name,
  summary,
  params,
  rest = [],
}: (typeof operations)[number]): string {
  const routes = [rest]
    .flat()
    .map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``);
  const parameters = Object.keys(params.properties).map((key) => `\`${key}\``);
  const details = [
    ...(parameters.length > 0 ? [`Parameters: ${parameters.join(", ")}.`] : []),
    ...(routes.length > 0 ? [`REST: ${routes.join(", ")}.`] : []),
  ];
  return [`- **${name}**: ${summary.replaceAll("*", "\\*")}`, ...details].join(
    " ",
  );
}

/** All operations in the order of their names. */
function byName() {
  return operations.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The page of privileges, from the permissions that operations declare. */
function toPrivilegePage(): string {
  const byRight = new Map<string, string[]>();
  const byLevel = new Map<string, string[]>();
  const add = (map: Map<string, string[]>, key: string, name: string) => {
    map.set(key, [...(map.get(key) ?? []), `\`${name}\``]);
  };
  for (const { name, permission } of byName())
    if (typeof permission === "string") add(byLevel, permission, name);
    else add(byRight, `${permission.action} ${permission.resource}`, name);
  const rights = [...byRight].toSorted().map(([right, names]) => {
    const [action = "", resource = ""] = right.split(" ");
    return [
      `\`${action}\``,
      resource === "*" ? "any" : resource,
      names.join(", "),
    ];
  });
  const declared = new Set([...byRight.keys()].map((key) => key.split(" ")[0]));
  const further = privilegeActions
    .filter((action) => action.includes(":") && !declared.has(action))
    .map((action) => `\`${action}\``);
  const levels = [
    ["none", "every client"],
    ["guest", "every client; what a sign-in page needs"],
    ["viewer", "signed-in users; all users in the demo"],
    ["user", "signed-in users, for objects that they have rights on"],
    ["operator", "users with the right to `operate` everything"],
    ["admin", "administrators"],
  ].map(([level = "", who = ""]) => [
    `\`${level}\``,
    who,
    byLevel.get(level)?.join(", ") ?? "",
  ]);
  return `# Privileges

A **role** is a list of privileges; users and groups have roles. A privilege allows or
denies one **action** on one **resource** (a type of objects), for all objects or for
those that match a **selector** in the [filter language](filters.md). What one privilege
denies is denied, whatever others allow; what none allows is not allowed. A denial for a
VM includes its snapshots, VBDs, VIFs and disks.

\`\`\`sh
xo-cli call role.create name=web-team
xo-cli call privilege.create roleId=ROLE effect=allow resource=VM action=read selector=tags:web
xo-cli call privilege.create roleId=ROLE effect=allow resource=VM action=operate selector=tags:web
\`\`\`

- An action includes those below it: \`operate\` includes \`operate:start\`, \`*\` all.
- The resource \`*\` stands for all objects of pools; \`user\`, \`group\`, \`acl-role\` and
  \`acl-privilege\` have to be named.
- Objects that a user may not \`read\` do not exist for this user.
- Operations that involve further objects (a host to start on, an SR for a disk, a network
  to attach) check a right on each of them: an action of the table below, or
  ${further.join(", ")}.
- A misspelt action, resource or property in a selector is refused with the nearest name;
  \`privilege.getNames\` lists actions and resources.
- Built-in roles: \`viewer\` (\`read\`), \`operator\` (\`read\`, \`operate\`), \`admin\` (\`*\`).

This page is written by \`npm run docs\` from the permissions that operations declare.

## Rights on objects

${toTable(["action", "resource", "operations"], rights)}
## Levels

${toTable(["level", "who", "operations"], levels)}`;
}

/** A Markdown table, its columns aligned as the formatter does it. */
function toTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => cell.replaceAll("|", "\\|").replaceAll("*", "\\*")),
  );
  const widths = head.map((_, i) =>
    Math.max(3, ...cells.map((row) => row[i]!.length)),
  );
  const lines = cells.map(
    (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0]!, rule, ...lines.slice(1), ""].join("\n");
}
