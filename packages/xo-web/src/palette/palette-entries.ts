import type { Component } from "vue";
import type { Action } from "../actions/plan/action.js";
import type { Messages } from "../locale/messages.js";
import type { ObjectRow } from "../api/object-row.js";
import { fitOf } from "./ranking.js";

/** A line of the palette. */
export type Entry =
  | {
      readonly kind: "object";
      readonly key: string;
      readonly row: ObjectRow;
    }
  | {
      readonly kind: "page";
      readonly key: string;
      readonly label: string;
      readonly path: string;
      readonly icon: Component;
    }
  | {
      readonly kind: "action";
      readonly key: string;
      readonly label: string;
      readonly action: Action;
      readonly object: ObjectRow;
      /** Why not now. */
      readonly refusal: string | undefined;
    };

export interface EntryGroup {
  readonly id: "actions" | "pages" | "recent" | "objects" | "minor";
  readonly entries: readonly Entry[];
}

/** Fits by nothing in its name. */
const NOT = 4;

/** What can be done to an object and fits what was typed; what cannot be done now comes last. */
export function actionEntries(
  actions: readonly Action[],
  object: ObjectRow,
  { typed, text }: { readonly typed: string; readonly text: Messages },
): readonly Entry[] {
  const entries = actions.map((action) => ({
    kind: "action" as const,
    key: `action ${action.id}`,
    action,
    object,
    label: action.label(text),
    refusal: action.refusal([object], text),
  }));
  const shown = fitting(entries, typed, ({ label }) => label);
  const isRefused = ({ refusal }: { refusal: string | undefined }) =>
    refusal === undefined ? 0 : 1;
  return shown.toSorted((a, b) => isRefused(a) - isRefused(b));
}

/** The best first; all, in their order, when nothing was typed. */
export function fitting<T>(
  list: readonly T[],
  typed: string,
  nameOf: (one: T) => string,
): readonly T[] {
  if (typed.trim() === "") return list;
  return list
    .map((one) => ({ one, fit: fitOf(nameOf(one), typed) }))
    .filter(({ fit }) => fit < NOT)
    .sort((a, b) => a.fit - b.fit)
    .map(({ one }) => one);
}

export function objectEntries(rows: readonly ObjectRow[]): readonly Entry[] {
  return rows.map((row) => ({
    kind: "object" as const,
    key: `object ${row.id}`,
    row,
  }));
}
