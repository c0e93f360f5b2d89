import { ref, shallowRef, type Ref, type ShallowRef } from "vue";
import { useRouter } from "vue-router";
import { pathOf } from "../objects/object-path.js";
import type { ObjectRow } from "../api/object-row.js";
import { commandOf, isTyping, type RowCommand } from "./row-keys.js";
import { countOf } from "./selection.js";
import { useListShortcuts } from "./use-list-shortcuts.js";
import type { Chosen } from "./use-chosen.js";
import type { DrawnLine, Rows } from "./use-rows.js";
import type { Viewport } from "./use-viewport.js";

export interface CursorParts {
  readonly rows: Rows;
  readonly chosen: Chosen;
  readonly view: Viewport;
  readonly box: Readonly<ShallowRef<HTMLElement | null>>;
  readonly isEmbedded: boolean;
  readonly toggleGroup: (id: string) => void;
  readonly toFilter: () => void;
  /** A key has moved or chosen something in the list. */
  readonly onKeys: () => void;
}

export interface Cursor {
  /** The line of the cursor; -1: none. */
  readonly line: Ref<number>;
  /** The object beside the list. */
  readonly peeked: ShallowRef<ObjectRow | undefined>;
  readonly choose: (line: DrawnLine, isRange: boolean) => void;
  readonly clicked: (line: DrawnLine, event: MouseEvent) => void;
  readonly open: (line: DrawnLine) => void;
  /** A key, while the list has the focus. */
  readonly pressed: (event: KeyboardEvent) => void;
}

/** The line that keys are about, and what keys and clicks do with it. */
export function useCursor(parts: CursorParts): Cursor {
  const { rows, chosen, view, box } = parts;
  const router = useRouter();
  const cursor = ref(-1);
  const peeked = shallowRef<ObjectRow>();
  /** Where a range begins. */
  let anchor = -1;

  function choose(line: DrawnLine, isRange: boolean): void {
    if (line.row === undefined) return;
    if (isRange && anchor >= 0) chosen.add(rowsBetween(anchor, line.line));
    else chosen.toggle(line.row);
    anchor = cursor.value = line.line;
  }
  function rowsBetween(one: number, other: number): ObjectRow[] {
    const some: ObjectRow[] = [];
    for (let at = Math.min(one, other); at <= Math.max(one, other); at++) {
      const row = rows.at(at)?.row;
      if (row !== undefined) some.push(row);
    }
    return some;
  }

  function moveTo(line: number): void {
    const last = rows.lines.value.count - 1;
    cursor.value = Math.min(Math.max(line, 0), last);
    view.reveal(cursor.value);
    if (peeked.value !== undefined)
      peeked.value = rows.at(cursor.value)?.row ?? peeked.value;
    box.value?.focus({ preventScroll: true });
  }
  function move(by: number, isRange: boolean): void {
    const from = cursor.value;
    moveTo(from + by);
    if (!isRange || from < 0) return;
    chosen.add(rowsBetween(from, cursor.value));
    anchor = cursor.value;
  }
  function open(line: DrawnLine): void {
    if (line.index < 0) parts.toggleGroup(line.section.key.slice(1));
    if (line.row === undefined) return;
    const path = pathOf(line.row.type, line.row.id);
    if (path === undefined) peeked.value = line.row;
    else void router.push(path);
  }
  /** @returns false: there was nothing to put away */
  function putAway(): boolean {
    if (peeked.value !== undefined) {
      peeked.value = undefined;
      box.value?.focus({ preventScroll: true });
    } else if (countOf(chosen.selection.value) > 0) chosen.clear();
    else return false;
    return true;
  }

  /** @returns false: the key is not for the list now */
  function obey(command: RowCommand): boolean {
    const line = rows.at(cursor.value);
    switch (command.kind) {
      case "move":
        move(command.by, command.isRange);
        return true;
      case "page":
        moveTo(cursor.value + command.by * view.page.value);
        return true;
      case "to":
        moveTo(command.end === "first" ? 0 : rows.lines.value.count - 1);
        return true;
      case "all":
        chosen.all();
        return true;
      case "none":
        return putAway();
      case "open":
      case "group":
      case "choose":
      case "peek":
        return line !== undefined && obeyOn(line, command.kind);
    }
  }
  function obeyOn(
    line: DrawnLine,
    kind: "open" | "group" | "choose" | "peek",
  ): boolean {
    const isHead = line.index < 0;
    if (kind === "open") open(line);
    else if (kind === "group" && isHead)
      parts.toggleGroup(line.section.key.slice(1));
    else if (kind === "group" || line.row === undefined) return false;
    else if (kind === "choose") choose(line, false);
    else peeked.value = peeked.value === undefined ? line.row : undefined;
    return true;
  }

  if (!parts.isEmbedded)
    useListShortcuts({
      obey: (command) => {
        const isObeyed = obey(command);
        if (isObeyed) parts.onKeys();
        return isObeyed;
      },
      toFilter: parts.toFilter,
    });

  return {
    line: cursor,
    peeked,
    choose,
    open,
    pressed(event) {
      const target = event.target as Element;
      if (event.defaultPrevented || isTyping(target)) return;
      // Letters of a list with a page of its own are shortcuts of the page.
      if (!parts.isEmbedded && /^[a-z]$/i.test(event.key)) return;
      const command = commandOf(event);
      const isControl = target.closest("button, a, input") !== null;
      if (command === undefined || (command.kind === "open" && isControl))
        return;
      if (!obey(command)) return;
      event.preventDefault();
      parts.onKeys();
    },
    clicked(line, event) {
      const target = event.target as Element;
      cursor.value = line.line;
      if (target.closest("a, button, input") !== null) return;
      if (event.shiftKey || event.ctrlKey || event.metaKey)
        choose(line, event.shiftKey);
      else anchor = line.line;
    },
  };
}
