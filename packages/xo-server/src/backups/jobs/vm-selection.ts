import type { Catalog, ViewObject } from "@xo-server/inventory";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import { fetchObjects } from "../../jobs/fetch-objects.js";
import type { BackupBody } from "../../jobs/job-body.js";

/** Key of other_config of VMs and networks of restore tests: the id of the task. */
export const RESTORE_TEST = "xo:restore-test";

/** VMs with this tag are not backed up, unless the job has other excluded tags. */
export const DEFAULT_EXCLUDED_TAGS: readonly string[] = ["xo:no-bak"];

/** A VM of a job; `object` is absent if it does not exist. */
export interface SelectedVm {
  readonly id: string;
  readonly name: string;
  readonly object: ViewObject | undefined;
}

interface ExcludedVm extends SelectedVm {
  readonly reason: string;
}

interface Selection {
  readonly vms: readonly SelectedVm[];
  readonly excluded: readonly ExcludedVm[];
}

type SelectionBody = Pick<
  BackupBody,
  "vms" | "filter" | "pattern" | "excludedTags"
>;

/**
 * The VMs of a job now. VMs listed by id are selected even if they do not
 * exist, so that the log has the error. Runs in slices of the event loop.
 * @throws XoError FILTER_INVALID, INVALID_PARAMETERS: too many objects
 */
export async function selectVms(
  catalog: Catalog,
  user: AuthenticatedUser,
  body: SelectionBody,
): Promise<Selection> {
  const { vms = [], filter, pattern, excludedTags } = body;
  const selected = new Map<string, SelectedVm>();
  const select = (object: ViewObject) => {
    const id = String(object["id"]);
    selected.set(id, { id, name: nameOf(object), object });
  };
  if (filter !== undefined || pattern !== undefined) {
    const found = await fetchObjects(catalog, user, {
      type: "VM",
      ...(filter === undefined ? {} : { filter }),
      ...(pattern === undefined ? {} : { pattern }),
    });
    for (const object of found) select(object);
  }
  for (const id of vms) {
    const object = findVm(catalog, id);
    if (object === undefined) selected.set(id, { id, name: id, object });
    else select(object);
  }
  return split([...selected.values()], excludedTags ?? DEFAULT_EXCLUDED_TAGS);
}

/** @returns undefined: there is no VM with this id */
function findVm(
  catalog: Pick<Catalog, "get">,
  id: string,
): ViewObject | undefined {
  const entry = catalog.get(id);
  return entry?.type === "VM"
    ? (JSON.parse(entry.json.toString()) as ViewObject)
    : undefined;
}

/** Tags of an object; none of a missing one. */
export function tagsOf(object: ViewObject | undefined): readonly string[] {
  const tags = object?.["tags"];
  return Array.isArray(tags) ? (tags as readonly string[]) : [];
}

function split(
  all: readonly SelectedVm[],
  excludedTags: readonly string[],
): Selection {
  const vms: SelectedVm[] = [];
  const excluded: ExcludedVm[] = [];
  for (const vm of all) {
    if (isRestoreTest(vm.object)) continue;
    const tags = tagsOf(vm.object);
    // Tags may have a reason: `xo:no-bak=database dumps are enough`.
    const tag = tags.find((one) =>
      excludedTags.some((name) => one === name || one.startsWith(`${name}=`)),
    );
    if (tag === undefined) vms.push(vm);
    else excluded.push({ ...vm, reason: `it has the tag ${tag}` });
  }
  return { vms, excluded };
}

/**
 * Whether the VM was created by a restore test. It exists for minutes only, with
 * the tags of the VM that was backed up.
 */
function isRestoreTest(object: ViewObject | undefined): boolean {
  const other = object?.["other"] as
    | Readonly<Record<string, string>>
    | undefined;
  return other?.[RESTORE_TEST] !== undefined;
}

function nameOf(object: ViewObject): string {
  const name = object["name_label"];
  return typeof name === "string" ? name : String(object["id"]);
}
