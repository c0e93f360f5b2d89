import type { Inventory } from "@xo-server/inventory";
import type { Ref } from "@xo-server/model";
import type { FoundObject } from "../objects/found-object.js";
import { checkObject } from "../operations/access.js";
import type { CallContext } from "../operations/operation.js";
import {
  listKinds,
  type ConsoleKind,
  type ConsoleOwner,
} from "./console-target.js";

export interface ConsoleAccessOptions {
  readonly findObject: (id: string) => FoundObject | undefined;
  readonly inventory: Pick<Inventory, "get" | "list">;
}

/** What there is to open. */
export interface ConsoleSummary {
  readonly id: string;
  readonly type: string;
  readonly name_label: string;
  readonly kinds: readonly ConsoleKind[];
}

/** Types of objects with a console, by what one must be allowed to do: a control domain is its host. */
const ACTIONS: Readonly<Record<string, string>> = {
  VM: "operate:console",
  "VM-controller": "administrate:console",
  host: "administrate:console",
};

/** Who may be in front of which console. */
export class ConsoleAccess {
  readonly #options: ConsoleAccessOptions;

  constructor(options: ConsoleAccessOptions) {
    this.#options = options;
  }

  /** What the id is one of, whoever asks; `VM` where it is nothing that has a console. */
  typeOf(id: string): string {
    return this.#find(id)?.type ?? "VM";
  }

  /** @throws XoError UNAUTHORIZED, NO_SUCH_OBJECT, FORBIDDEN */
  admit(id: string, context: CallContext): ConsoleOwner {
    const entry = this.#find(id);
    const type = this.typeOf(id);
    const right = { action: ACTIONS[type]!, resource: type };
    checkObject(context, right, { id, entry });
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

  /** Why somebody may not go on; what does not run any more has no console either. */
  objection(id: string, { client }: CallContext): string | undefined {
    const person = client.session?.user();
    if (person === undefined) return "session expired";
    try {
      this.describe(id, {
        user: person,
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
