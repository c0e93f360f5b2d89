import type { Inventory } from "@xo-server/inventory";
import type { Ref } from "@xo-server/model";
import type { FoundObject } from "../objects/found-object.js";
import { checkObject, type RequestedObject } from "../operations/access.js";
import type { CallContext } from "../operations/operation.js";
import type { Action } from "../rights/actions.js";
import {
  listKinds,
  type ConsoleKind,
  type ConsoleOwner,
} from "./console-target.js";

interface ConsoleAccessOptions {
  readonly findObject: (id: string) => FoundObject | undefined;
  readonly inventory: Pick<Inventory, "get" | "list">;
  /** See RequestedObject. */
  readonly missing?: RequestedObject["missing"];
}

/** A console that can be opened. */
export interface ConsoleSummary {
  readonly id: string;
  readonly type: string;
  readonly name_label: string;
  readonly kinds: readonly ConsoleKind[];
}

/** The required privilege by type of object. The console of a control domain is that of its host. */
const ACTIONS: Readonly<Record<string, Action>> = {
  VM: "operate:console",
  "VM-controller": "administrate:console",
  host: "administrate:console",
};

/** Checks whether a user may open a console. */
export class ConsoleAccess {
  readonly #options: ConsoleAccessOptions;

  constructor(options: ConsoleAccessOptions) {
    this.#options = options;
  }

  /** The type of the object; `VM` if an object of its type has no console. */
  typeOf(id: string): string {
    return this.#find(id)?.type ?? "VM";
  }

  /** @throws XoError UNAUTHORIZED, NO_SUCH_OBJECT, OBJECTS_LOADING, FORBIDDEN */
  admit(id: string, context: CallContext): ConsoleOwner {
    const entry = this.#find(id);
    const type = this.typeOf(id);
    const right = { action: ACTIONS[type]!, resource: type };
    const { missing } = this.#options;
    checkObject(context, right, { id, entry, ...(missing && { missing }) });
    return {
      id: entry!.id,
      pool: entry!.pool,
      className: type === "host" ? "host" : "VM",
      ref: entry!.object["_xapiRef"] as Ref,
    };
  }

  /** @throws XoError as `admit`, and VM_BAD_POWER_STATE */
  describe(id: string, context: CallContext): ConsoleSummary {
    const owner = this.admit(id, context);
    const kinds = listKinds(this.#options.inventory, owner);
    const name = this.#find(id)!.object["name_label"];
    return {
      id: owner.id,
      type: this.typeOf(id),
      kinds,
      name_label: typeof name === "string" ? name : "",
    };
  }

  /**
   * Why a session must end: its user has lost the right, or the VM is no longer
   * running. Undefined: it may continue.
   */
  reasonToEnd(id: string, { client }: CallContext): string | undefined {
    const user = client.session?.user();
    if (user === undefined) return "session expired";
    try {
      this.describe(id, {
        user,
        permission: "user",
        client,
        address: "",
      });
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  #find(id: string): FoundObject | undefined {
    const entry = this.#options.findObject(id);
    return entry !== undefined && Object.hasOwn(ACTIONS, entry.type)
      ? entry
      : undefined;
  }
}
