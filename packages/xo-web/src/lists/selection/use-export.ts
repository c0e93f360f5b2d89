import { ref, type Ref } from "vue";
import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { useServer } from "../../live/use-server.js";
import type { ObjectRow } from "../../api/object-row.js";
import type { Column } from "../columns/column.js";
import { mentioned, mentionedVbds, toCsv } from "./csv.js";
import { readVmsOfVbds } from "../../objects/vms-of-vbds.js";
import type { RowsRequest } from "../rows/section-view.js";

/** Maximum number of rows per request. */
const A_PAGE = 5_000;
/** Maximum number of names per request. */
const NAMES_A_PAGE = 1_000;
/** Maximum number of rows of a file. */
const MAX_ROWS = 500_000;

/**
 * Reads all rows that match, in several requests.
 * @param onRows called with the number of rows so far
 */
export async function readAll(
  call: (method: string, params: Json) => Promise<Json>,
  request: RowsRequest,
  { most, onRows }: { most: number; onRows?: (count: number) => void },
): Promise<ObjectRow[]> {
  const rows: ObjectRow[] = [];
  let after: string | undefined;
  do {
    const answer = await call("query.page", {
      ...(request as unknown as Record<string, Json>),
      limit: Math.min(A_PAGE, most - rows.length),
      ...(after === undefined ? {} : { after }),
    });
    if (!isObject(answer) || !Array.isArray(answer["rows"])) break;
    for (const row of answer["rows"] as unknown as ObjectRow[]) rows.push(row);
    onRows?.(rows.length);
    const { next } = answer;
    after = typeof next === "string" ? next : undefined;
  } while (after !== undefined && rows.length < most);
  return rows;
}

/** Names by id. Names that cannot be read are left out. */
async function readNames(
  call: (method: string, params: Json) => Promise<Json>,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const [type, all] of ids) {
    const left = [...all];
    while (left.length > 0) {
      const some = left.splice(0, NAMES_A_PAGE);
      const answer = await call("query.page", {
        type,
        ids: some,
        fields: ["id", "name_label"],
        limit: some.length,
        // Without an answer the ids are exported.
      }).catch(() => null);
      const rows = isObject(answer) ? answer["rows"] : undefined;
      for (const { id, name_label } of (Array.isArray(rows)
        ? rows
        : []) as readonly ObjectRow[])
        if (name_label) names.set(id, name_label);
    }
  }
  return names;
}

/** Names of VMs, by the ids of their VBDs. */
async function readVmNames(
  call: Call,
  vbds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const vms = await readVmsOfVbds(call, vbds);
  const ids = new Set(vms.values());
  // Snapshots and templates have disks, too.
  const types = ["VM", "VM-snapshot", "VM-template", "VM-controller"];
  const names = await readNames(
    call,
    new Map(types.map((type) => [type, ids])),
  );
  return new Map(
    [...vms].map(([vbd, vm]): [string, string] => [vbd, names.get(vm) ?? vm]),
  );
}

interface CsvExport {
  /** Number of rows so far, while a file is being created. */
  readonly busy: Ref<number | undefined>;
  /**
   * Resolves with the number of rows when the browser has the file.
   * @throws errors of the server
   */
  readonly run: (
    request: RowsRequest,
    columns: readonly Column[],
    names: readonly string[],
  ) => Promise<number>;
}

/** Exports the list as a file. */
export function useExport(fileName: string): CsvExport {
  const { call } = useServer();
  const busy = ref<number>();
  return {
    busy,
    async run(request, columns, names) {
      busy.value = 0;
      try {
        const rows = await readAll(call, request, {
          most: MAX_ROWS,
          onRows(count) {
            busy.value = count;
          },
        });
        const found = await readNames(call, mentioned(columns, rows));
        const vms = await readVmNames(call, mentionedVbds(columns, rows));
        const csv = toCsv(
          columns,
          names,
          rows,
          (id) => found.get(id) ?? vms.get(id),
        );
        save(fileName, csv);
        return rows.length;
      } finally {
        busy.value = undefined;
      }
    },
  };
}

function save(name: string, text: string): void {
  // With the byte order mark, as spreadsheets assume another encoding without
  // it.
  const blob = new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 10_000);
}
