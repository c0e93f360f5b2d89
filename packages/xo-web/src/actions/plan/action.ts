import type { Component } from "vue";
import type { Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import type { Formats } from "../../locale/formats.js";
import type { Messages } from "../../locale/messages.js";
import { plainName } from "../../api/plain-name.js";
import type { ObjectRow } from "../../api/object-row.js";
import type { ActionForm, Values } from "./action-form.js";

export type ActionName = keyof Messages["actions"]["names"];
export type ActionGroup = keyof Messages["actions"]["groups"];

/** One operation of the server on one object. */
export interface OperationCall {
  readonly method: string;
  /** Which parameter is the object's id; default: `id`. */
  readonly idParameter?: string;
  readonly params?: Readonly<Record<string, Json>>;
  /** How many at a time, of several; default: 10. */
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
}

/**
 * Steps that undo what was done; undefined if it cannot be undone completely.
 * @param done its objects, with their values before
 * @param results of the server, in their order; undefined for a bulk operation
 */
export type Undo = (
  done: readonly ObjectRow[],
  results: readonly Json[] | undefined,
) => readonly Step[] | undefined;

export interface Localization {
  readonly text: Messages;
  readonly formats: Formats;
}

export interface ActionContext extends Localization {
  readonly call: Call;
  /** Leads to another page. */
  readonly go: (path: string) => void;
}

/** What an action is made of; `defineAction` makes it whole. */
export interface ActionDefinition {
  /** Such as `vm.start`: its name in locale/en/actions.ts. */
  readonly id: ActionName;
  /** Of objects that it can be done to. */
  readonly types: readonly string[];
  readonly icon: Component;
  readonly group: ActionGroup;
  /** Shown as a button; the others are in a menu. */
  readonly isPrimary?: boolean;
  /** Of actions with the same place, one that can be done now is shown. */
  readonly place?: string;
  readonly tone?: "danger";
  /** Ends or interrupts the work of guests: several are confirmed first, see `withConfirmation`. */
  readonly isDisruptive?: boolean;
  /** To one object at a time only. */
  readonly isForOne?: boolean;
  /** To several at a time only: for one there is something better. */
  readonly isForMany?: boolean;
  /** To several one after another, not as one bulk operation: each answer is for this browser. */
  readonly isInTurn?: boolean;
  /** Why not to this object now; undefined: nothing is known against it. Fields may be missing. */
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
  /** Type of what it makes, where the server answers its id: the toast leads there. */
  readonly createdType?: string;
  /** For what is still to be done with an answer, such as fetching a file. */
  readonly onResult?: (result: Json) => void;
  /** In the place of `ask` and `order`: props `action`, `objects`; emits `done` with a Plan, or `close`. */
  readonly dialog?: () => Promise<{ default: Component }>;
  /** In the place of all of them: what is no operation of the server. */
  readonly run?: (
    context: ActionContext,
    objects: readonly ObjectRow[],
  ) => void | Promise<void>;
}

/** Something that can be done to objects of some types. */
export interface Action extends ActionDefinition {
  readonly label: (text: Messages) => string;
  /** Why it can be done to none of them now; undefined: to some it can. */
  readonly refusal: (
    objects: readonly ObjectRow[],
    text: Messages,
  ) => string | undefined;
  /** Those that it can be done to now. */
  readonly possible: (
    objects: readonly ObjectRow[],
    text: Messages,
  ) => readonly ObjectRow[];
  /** The others of them, by reason. */
  readonly skipped: (
    objects: readonly ObjectRow[],
    text: Messages,
  ) => readonly Skipped[];
}

/** Completes an action with its label and with what all actions have in common. */
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
      const counts = new Map<string, number>();
      for (const object of objects) {
        const reason = cannot(object, text);
        if (reason !== undefined)
          counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
      return Array.from(counts, ([reason, count]) => ({ reason, count }));
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
 * What disrupts or destroys several objects is confirmed with their names: by
 * typing their number if they are many, or if a single one must be typed.
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

/** How an object is called in questions and toasts. */
export function nameOf(object: ObjectRow): string {
  const { name_label, id } = object;
  return name_label === undefined || name_label === ""
    ? id.slice(0, 8)
    : plainName(name_label);
}
