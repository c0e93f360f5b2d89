import type { Component } from "vue";
import type { Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import type { Formats } from "../../locale/formats.js";
import type { Messages } from "../../locale/messages.js";
import { plainName } from "../../api/plain-name.js";
import type { ObjectRow } from "../../api/object-row.js";
import type { ActionForm, Values } from "./action-form.js";

export type ActionName = keyof Messages["actions"]["names"];
type ActionGroup = keyof Messages["actions"]["groups"];

/** One operation of the server on one object. */
export interface OperationCall {
  readonly method: string;
  /** Which parameter is the object's id; default: `id`. */
  readonly idParameter?: string;
  readonly params?: Readonly<Record<string, Json>>;
  /** Number of concurrent calls for several objects; default: 10. */
  readonly concurrency?: number;
}

/** The same operation on some objects. */
export interface Step {
  readonly operation: OperationCall;
  readonly objects: readonly ObjectRow[];
}

/** The operation that an action or its form requests. */
export interface Plan {
  readonly steps: readonly Step[];
  /** Default: the action's. */
  readonly undo?: Undo;
  /** Selected objects that the action is not possible for. */
  readonly skipped?: readonly Skipped[];
}

/** Selected objects that an action leaves out, by reason. */
export interface Skipped {
  readonly reason: string;
  readonly count: number;
  /** Names of the first ones. */
  readonly names: readonly string[];
}

/** Objects of one reason that are named. */
const MAX_SKIPPED_NAMES = 3;

/**
 * Steps that undo the operations; undefined if they cannot be undone completely.
 * @param done the objects, with their values before
 * @param results of the server, in the order of the objects; undefined for a bulk
 *   operation
 */
type Undo = (
  done: readonly ObjectRow[],
  results: readonly Json[] | undefined,
) => readonly Step[] | undefined;

export interface Localization {
  readonly text: Messages;
  readonly formats: Formats;
}

interface ActionContext extends Localization {
  readonly call: Call;
  /** Goes to another page. */
  readonly go: (path: string) => void;
}

/** The properties of an action; `defineAction` adds the derived ones. */
export interface ActionDefinition {
  /** Such as `vm.start`: its name in locale/en/actions.ts. */
  readonly id: ActionName;
  /** Types of objects that it applies to. */
  readonly types: readonly string[];
  readonly icon: Component;
  readonly group: ActionGroup;
  /** Shown as a button; the others are in a menu. */
  readonly isPrimary?: boolean;
  /**
   * Name of a slot on the button bar. Of the actions with the same slot, one that
   * is possible now is shown.
   */
  readonly slot?: string;
  readonly tone?: "danger";
  /**
   * Whether it ends or interrupts the work of guests: with several objects it is
   * confirmed first, see `withConfirmation`.
   */
  readonly isDisruptive?: boolean;
  /** Only for one object at a time. */
  readonly isForOne?: boolean;
  /** Only for several objects: another action does it for one. */
  readonly isForMany?: boolean;
  /**
   * Runs for several objects one after another, not as one bulk operation: the
   * browser needs each answer.
   */
  readonly isInTurn?: boolean;
  /**
   * Why the action is not possible for this object now; undefined: no reason is
   * known. Fields may be missing.
   */
  readonly refusalOf?: (
    object: ObjectRow,
    text: Messages,
  ) => string | undefined;
  /** The confirmation; absent: it runs immediately. */
  readonly formOf?: (
    objects: readonly ObjectRow[],
    localization: Localization,
  ) => ActionForm | undefined;
  /** The operation that the user needs a right to, where `dialog` or `run` call it. */
  readonly needs?: OperationCall;
  readonly operation?: (object: ObjectRow, values: Values) => OperationCall;
  readonly undo?: Undo;
  /** Type of the object that it creates, if the server returns its id: the toast links to it. */
  readonly createdType?: string;
  /** Handles the answer of the server, for example by downloading a file. */
  readonly onResult?: (result: Json) => void;
  /**
   * A component in the place of `formOf` and `order`: props `action`, `objects`;
   * emits `done` with a Plan, or `close`.
   */
  readonly dialog?: () => Promise<{ default: Component }>;
  /** In the slot of all of these: an action that is not an operation of the server. */
  readonly run?: (
    context: ActionContext,
    objects: readonly ObjectRow[],
  ) => void | Promise<void>;
}

/** An action on objects of some types. */
export interface Action extends ActionDefinition {
  readonly label: (text: Messages) => string;
  /** Why the action is possible for none of the objects now; undefined: it is possible for some. */
  readonly refusal: (
    objects: readonly ObjectRow[],
    text: Messages,
  ) => string | undefined;
  /** The objects that the action is possible for now. */
  readonly possible: (
    objects: readonly ObjectRow[],
    text: Messages,
  ) => readonly ObjectRow[];
  /** The other objects, by the reason why it is not possible. */
  readonly skipped: (
    objects: readonly ObjectRow[],
    text: Messages,
  ) => readonly Skipped[];
}

/** Completes an action with its label and with the behavior that all actions share. */
export function defineAction(parts: ActionDefinition): Action {
  const cannot = (object: ObjectRow, text: Messages) =>
    parts.types.includes(object.type)
      ? parts.refusalOf?.(object, text)
      : text.actions.reasons.otherType;
  return {
    ...parts,
    ...withConfirmation(parts),
    label: (text) => text.actions.names[parts.id],
    possible: (objects, text) =>
      objects.filter((object) => cannot(object, text) === undefined),
    skipped(objects, text) {
      const byReason = new Map<string, ObjectRow[]>();
      for (const object of objects) {
        const reason = cannot(object, text);
        if (reason === undefined) continue;
        const others = byReason.get(reason);
        if (others === undefined) byReason.set(reason, [object]);
        else others.push(object);
      }
      return Array.from(byReason, ([reason, some]) => ({
        reason,
        count: some.length,
        names: some.slice(0, MAX_SKIPPED_NAMES).map(nameOf),
      }));
    },
    refusal(objects, text) {
      if (parts.isForOne === true && objects.length > 1)
        return text.actions.reasons.oneOnly;
      const reasons = new Set<string | undefined>();
      for (const object of objects) reasons.add(cannot(object, text));
      if (reasons.has(undefined) || reasons.size === 0) return undefined;
      return reasons.size === 1 ? [...reasons][0] : text.actions.reasons.none;
    },
  };
}

/** Above this number of objects their number must be typed. */
const TYPED_ABOVE = 10;

/**
 * Adds a confirmation with the names of the objects to an action that disrupts or
 * destroys several of them. Their number must be typed if there are many, or if the
 * action requires typing for a single one.
 */
function withConfirmation({
  formOf,
  group,
  tone,
  isDisruptive = tone === "danger" || group === "danger",
}: ActionDefinition): Pick<ActionDefinition, "formOf"> {
  if (!isDisruptive) return formOf === undefined ? {} : { formOf };
  return {
    formOf(objects, localization) {
      const form = formOf?.(objects, localization);
      if (objects.length <= 1) return form;
      const isTyped =
        form?.typed !== undefined ||
        group === "danger" ||
        objects.length > TYPED_ABOVE;
      return { ...form, ...(isTyped && { typed: String(objects.length) }) };
    },
  };
}

/** Name of an object in confirmations and toasts. */
export function nameOf(object: ObjectRow): string {
  const { name_label, id } = object;
  return name_label === undefined || name_label === ""
    ? id.slice(0, 8)
    : plainName(name_label);
}
