import { Camera, Gauge, Plus } from "@lucide/vue";
import type { Component } from "vue";
import type { Action } from "../actions/plan/action.js";
import type { Messages } from "../locale/messages.js";
import { sidePages } from "../navigation/side-pages.js";
import type { ObjectRow } from "../api/object-row.js";
import { fitOf } from "./ranking.js";

/** An option of the palette. */
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
      /** Why the action is not possible now. */
      readonly refusal: string | undefined;
    };

export interface EntryGroup {
  readonly id: "actions" | "pages" | "recent" | "objects" | "minor";
  readonly entries: readonly Entry[];
}

/** A search term matches, but not the name. */
const BY_TERM = 3;
/** Neither the name nor a search term matches. */
const NO_MATCH = 4;

/** The actions of an object that match the typed text; refused actions are last. */
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
    terms: termsOf(text.palette.actionTerms, action.id),
    refusal: action.refusal([object], text),
  }));
  const matches = matching(entries, typed);
  const isRefused = ({ refusal }: { refusal: string | undefined }) =>
    refusal === undefined ? 0 : 1;
  return matches.toSorted((a, b) => isRefused(a) - isRefused(b));
}

/** Pages that are not in the side bar. */
const furtherPages = [
  { page: "newVm", path: "/new/vm", icon: Plus },
  { page: "snapshots", path: "/snapshots", icon: Camera },
  { page: "status", path: "/status", icon: Gauge },
] as const;

/** The pages that match the typed text; all pages if it is empty. */
export function pageEntries(
  typed: string,
  text: Messages,
): readonly (Entry & { kind: "page" })[] {
  const pages = [
    ...sidePages.flatMap(({ pages }) => pages),
    ...furtherPages,
  ].map(({ page, path, icon }) =>
    pageEntry({
      label: text.shell.pages[page],
      path,
      icon,
      terms: termsOf(text.palette.pageTerms, page),
    }),
  );
  if (typed.trim() === "") return pages;
  return matching([...pages, ...subpageEntries(text)], typed);
}

type PageEntry = Entry & { readonly kind: "page" } & {
  readonly terms: string;
};

function pageEntry(page: Omit<PageEntry, "kind" | "key">): PageEntry {
  return { kind: "page", key: `page ${page.path}`, ...page };
}

/** The sections of the settings and the tabs of the placement. */
function subpageEntries(text: Messages): readonly PageEntry[] {
  const { settingsTerms, placementTerms } = text.palette;
  const iconOf = (page: string) =>
    sidePages.flatMap(({ pages }) => pages).find((one) => one.page === page)!
      .icon;
  const sections = Object.entries(text.settings.names).map(([id, name]) =>
    pageEntry({
      label: `${text.shell.pages.settings}: ${name}`,
      path: `/settings/${id}`,
      icon: iconOf("settings"),
      terms: termsOf(settingsTerms, id),
    }),
  );
  const tabs = Object.entries(text.placement.tabs).map(([id, name]) =>
    pageEntry({
      label: `${text.shell.pages.placement}: ${name}`,
      path: `/placement/${id}`,
      icon: iconOf("placement"),
      terms: termsOf(placementTerms, id),
    }),
  );
  return [...sections, ...tabs];
}

function termsOf(terms: Readonly<Record<string, string>>, id: string): string {
  return Object.hasOwn(terms, id) ? terms[id]! : "";
}

/** Entries whose label or search terms match, the best first. */
function matching<T extends { readonly label: string; readonly terms: string }>(
  entries: readonly T[],
  typed: string,
): readonly T[] {
  const byLabel = fitting(entries, typed, ({ label }) => label);
  const labels = new Set(byLabel);
  const byTerm = entries.filter(
    (entry) => !labels.has(entry) && fitOf(entry.terms, typed) <= BY_TERM,
  );
  return [...byLabel, ...byTerm];
}

/** The best match first; the whole list in its order if nothing was typed. */
export function fitting<T>(
  list: readonly T[],
  typed: string,
  nameOf: (one: T) => string,
): readonly T[] {
  if (typed.trim() === "") return list;
  return list
    .map((one) => ({ one, fit: fitOf(nameOf(one), typed) }))
    .filter(({ fit }) => fit < NO_MATCH)
    .sort((a, b) => a.fit - b.fit)
    .map(({ one }) => one);
}

/** Entries of the objects that a search has found. */
export function objectEntries(rows: readonly ObjectRow[]): readonly Entry[] {
  return rows.map((row) => ({
    kind: "object" as const,
    key: `object ${row.id}`,
    row,
  }));
}
