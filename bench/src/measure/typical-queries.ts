import type { PageRequest, Queries } from "@xo-server/inventory";

/** One row of the table: variants of a query, none of which is cached. */
export interface TypicalQuery {
  readonly name: string;
  readonly variants: readonly ((queries: Queries) => Promise<unknown>)[];
}

const FIRST_PAGE = 50;

/** Typical queries of VMs by users and programs. */
export const typicalQueries: readonly TypicalQuery[] = [
  // A user types "db-prod-12" into the search field: each key is a new query.
  pages(
    "a key in the search field",
    ["d", "db", "db-", "db-p", "db-pr", "db-prod", "db-prod-1"].map(
      (search) => ({ search }),
    ),
  ),
  filters(
    "part of the name",
    ["web-00", "k8s-node", "app-01", "nothing-such"],
    "name_label:",
  ),
  filters(
    "power_state",
    ["running", "halted", "|(running paused)", "!running"],
    "power_state:",
  ),
  filters(
    "regular expression",
    [
      "/-00[0-9]+$/",
      "/^p00\\d-(db|web)/i",
      "/[a-z]+-[a-z]+-5/",
      "/(?:db|web)+-prod/",
    ],
    "name_label:",
  ),
  filters(
    "memory:size:>=",
    [4, 8, 16, 1].map((gib) => String(gib * 2 ** 30)),
    "memory:size:>=",
  ),
  filters(
    "tags:(a b)",
    ["(prod db)", "(prod web)", "(dev ci)", "(office windows)"],
    "tags:",
  ),
  pages("sort by name", [
    { sort: [{ by: "name_label", descending: true }] },
    { sort: [{ by: "name_label" }, { by: "power_state" }] },
  ]),
  pages("sort by memory", [
    { sort: [{ by: "memory.size", descending: true }] },
    { sort: [{ by: "memory.size" }] },
  ]),
  {
    name: "twenty pages by cursor",
    variants: [(queries) => readPages(queries, 20)],
  },
  {
    name: "count",
    variants: ["power_state:suspended", "tags:prod", "name_label:7"].map(
      (filter) => (queries) => queries.count({ type: "VM", filter }),
    ),
  },
  ...["$pool", "$container", "power_state", "os_version.distro", "tags"].map(
    (by): TypicalQuery => ({
      name: `group by ${by}`,
      variants: ["", "power_state:running", "name_label:web"].map(
        (filter) => (queries) => queries.group({ type: "VM", filter }, by),
      ),
    }),
  ),
];

function pages(
  name: string,
  requests: readonly Partial<PageRequest>[],
): TypicalQuery {
  return {
    name,
    variants: requests.map(
      (request) => (queries) =>
        queries.page({ type: "VM", limit: FIRST_PAGE, ...request }),
    ),
  };
}

function filters(
  name: string,
  ends: readonly string[],
  start: string,
): TypicalQuery {
  return pages(
    name,
    ends.map((end) => ({ filter: start + end })),
  );
}

async function readPages(queries: Queries, count: number): Promise<void> {
  let after: string | undefined;
  for (let left = count; left > 0; left--) {
    const page = await queries.page({
      type: "VM",
      limit: FIRST_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    after = page.next;
    if (after === undefined) return;
  }
}
