import type { CallContext, OperationTable } from "../../operation.js";
import type { PoolData } from "../../pool-state.js";
import { flag, refs, text, textParam } from "../../records/fields.js";
import { XapiFailure, internalError } from "../../xapi-failure.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { badPowerState } from "../effects/failures.js";
import { refreshVm } from "../effects/refresh.js";

/**
 * Virtual TPMs. Their contents are base64 in a secret; no record names it
 * [xapi_vtpm.ml, from memory but for what a test says].
 */
export const vtpmOperations: OperationTable = {
  "VTPM.create": (context, params) => {
    const vm = textParam(params, 0);
    assertHalted(context, vm);
    assertNotBlocked(context.db, vm, "create_vtpm");
    if (refs(context.db.get("VM", vm), "VTPMs").length > 0)
      throw new XapiFailure("VTPM_MAX_AMOUNT_REACHED", ["1"]);
    return addVtpm(context, vm, { isUnique: params[1] === true, contents: "" });
  },
  "VTPM.destroy": (context, params) => {
    const ref = textParam(params, 0);
    const vm = text(context.db.get("VTPM", ref), "VM");
    if (context.db.find("VM", vm) !== undefined) assertHalted(context, vm);
    removeVtpm(context, ref);
    refreshVm(context.db, vm);
  },
  "VTPM.get_contents": (context, params) =>
    contentsOf(context, textParam(params, 0)),
  "VTPM.set_contents": (context, params) => {
    const [ref, contents] = [textParam(params, 0), textParam(params, 1)];
    context.db.get("VTPM", ref);
    if (Buffer.from(contents, "base64").toString("base64") !== contents)
      throw internalError("Invalid_argument(Malformed base64)");
    setContents(context, ref, contents);
  },
};

/** @throws XapiFailure VM_BAD_POWER_STATE */
function assertHalted({ db }: CallContext, vm: string): void {
  const state = text(db.get("VM", vm), "power_state");
  if (state !== "Halted") throw badPowerState(vm, ["Halted"], state);
}

/** A VTPM for a VM. @param contents base64 @returns its reference */
function addVtpm(
  pool: PoolData,
  vm: string,
  { isUnique, contents }: { isUnique: boolean; contents: string },
): string {
  const ref = pool.db.create("VTPM", {
    VM: vm,
    is_unique: isUnique,
    allowed_operations: ["destroy"],
  });
  setContents(pool, ref, contents);
  refreshVm(pool.db, vm);
  return ref;
}

/** The VTPMs of a VM for another; of clones and copies, a unique one starts empty. */
export function copyVtpms(
  pool: PoolData,
  from: string,
  to: { readonly vm: string; readonly isSnapshot: boolean },
): void {
  for (const vtpm of refs(pool.db.get("VM", from), "VTPMs")) {
    const isUnique = flag(pool.db.get("VTPM", vtpm), "is_unique");
    const empty = isUnique && !to.isSnapshot;
    const contents = empty ? "" : contentsOf(pool, vtpm);
    addVtpm(pool, to.vm, { isUnique, contents });
  }
}

/** Deletes a VTPM and its secret. */
export function removeVtpm({ db, state }: PoolData, ref: string): void {
  db.destroy("VTPM", ref);
  const secret = state.vtpmSecrets.get(ref);
  if (secret === undefined) return;
  state.vtpmSecrets.delete(ref);
  if (db.find("secret", secret) !== undefined) db.destroy("secret", secret);
}

/**
 * Returns the contents of a VTPM in base64. VTPMs of the initial pool have contents derived
 * from their uuid.
 */
export function contentsOf({ db, state }: PoolData, ref: string): string {
  const vtpm = db.get("VTPM", ref);
  const secret = db.find("secret", state.vtpmSecrets.get(ref) ?? "");
  if (secret !== undefined) return text(secret, "value");
  const initial = Buffer.alloc(1024, `state of VTPM ${text(vtpm, "uuid")} `);
  return initial.toString("base64");
}

/** Stores the contents of a VTPM in a new secret. */
export function setContents(
  { db, state }: PoolData,
  ref: string,
  contents: string,
): void {
  const before = state.vtpmSecrets.get(ref) ?? "";
  state.vtpmSecrets.set(ref, db.create("secret", { value: contents }));
  if (db.find("secret", before) !== undefined) db.destroy("secret", before);
}
