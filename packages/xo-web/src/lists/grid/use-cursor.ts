import { ref, shallowRef, type Ref, type ShallowRef } from "vue";
import { useRouter } from "vue-router";
import { pathOf } from "../../objects/object-path.js";
import type { ObjectRow } from "../../api/object-row.js";
import { commandOf, isTyping, type RowCommand } from "./row-keys.js";
import { countOf } from "../selection/selection.js";
import { useListShortcuts } from "./use-list-shortcuts.js";
import type { Chosen } from "../selection/use-chosen.js";
import type { DrawnLine, Rows } from "../rows/use-rows.js";
import type { Viewport } from "./use-viewport.js";

interface CursorParts {
  readonly rows: Rows;
  readonly chosen: Chosen;
  readonly view: Viewport;
  readonly box: Readonly<ShallowRef<HTMLElement | null>>;
  readonly isEmbedded: boolean;
  readonly toggleGroup: (id: string) => void;
  readonly toFilter: () => void;
  /** A key has moved the cursor or changed the selection. */
  readonly onKeys: () => void;
}

interface Cursor {
  /** The line of the cursor; -1: none. */
  readonly line: Ref<number>;
  /** The object in the preview beside the list. */
  readonly peeked: ShallowRef<ObjectRow | undefined>;
  readonly choose: (line: DrawnLine, isRange: boolean) => void;
  readonly clicked: (line: DrawnLine, event: MouseEvent) => void;
  readonly open: (line: DrawnLine) => void;
  /** A key press while the list has the focus. */
  readonly pressed: (event: KeyboardEvent) => void;
}

/** The cursor of the list, moved by keys and clicks, and the commands on its line. */
export function useCursor(parts: CursorParts): Cursor {
  const cursor = ref(-1);
  const peeked = shallowRef<ObjectRow>();
  const range = createRangeSelection(parts, cursor);
  const open = createOpen(parts, peeked);
  const perform = createCommands({ parts, cursor, peeked, range, open });

  if (!parts.isEmbedded)
    useListShortcuts({
      perform(command) {
        const isDone = perform(command);
        if (isDone) parts.onKeys();
        return isDone;
      },
      toFilter: parts.toFilter,
    });

  return {
    line: cursor,
    peeked,
    choose: range.choose,
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
      if (!perform(command)) return;
      event.preventDefault();
      parts.onKeys();
    },
    clicked(line, event) {
      const target = event.target as Element;
      cursor.value = line.line;
      if (target.closest("a, button, input") !== null) return;
      if (event.shiftKey || event.ctrlKey || event.metaKey)
        range.choose(line, event.shiftKey);
      else range.setAnchor(line.line);
    },
  };
}

interface RangeSelection {
  /** Selects or deselects a row; a range selects all rows from the anchor. */
  readonly choose: (line: DrawnLine, isRange: boolean) => void;
  /** Selects the rows from a line to the cursor. */
  readonly extendFrom: (line: number) => void;
  readonly setAnchor: (line: number) => void;
}

function createRangeSelection(
  { rows, chosen }: CursorParts,
  cursor: Ref<number>,
): RangeSelection {
  /** The line where a range begins; -1: none. */
  let anchor = -1;
  function rowsBetween(one: number, other: number): ObjectRow[] {
    const some: ObjectRow[] = [];
    for (let at = Math.min(one, other); at <= Math.max(one, other); at++) {
      const row = rows.at(at)?.row;
      if (row !== undefined) some.push(row);
    }
    return some;
  }
  return {
    choose(line, isRange) {
      if (line.row === undefined) return;
      if (isRange && anchor >= 0) chosen.add(rowsBetween(anchor, line.line));
      else chosen.toggle(line.row);
      anchor = cursor.value = line.line;
    },
    extendFrom(line) {
      chosen.add(rowsBetween(line, cursor.value));
      anchor = cursor.value;
    },
    setAnchor(line) {
      anchor = line;
    },
  };
}

/** Opens the page of a row, or expands a group. A row without a page is previewed. */
function createOpen(
  { toggleGroup }: CursorParts,
  peeked: ShallowRef<ObjectRow | undefined>,
): (line: DrawnLine) => void {
  const router = useRouter();
  return (line) => {
    if (line.index < 0) toggleGroup(groupOf(line));
    if (line.row === undefined) return;
    const path = pathOf(line.row.type, line.row.id);
    if (path === undefined) peeked.value = line.row;
    else void router.push(path);
  };
}

interface CommandParts {
  readonly parts: CursorParts;
  readonly cursor: Ref<number>;
  readonly peeked: ShallowRef<ObjectRow | undefined>;
  readonly range: RangeSelection;
  readonly open: (line: DrawnLine) => void;
}

/** @returns performs a command; false: the command is not possible now */
function createCommands(
  commands: CommandParts,
): (command: RowCommand) => boolean {
  const { parts, cursor, peeked, range } = commands;
  const { rows, chosen, view, box } = parts;

  function moveTo(line: number): void {
    const last = rows.lines.value.count - 1;
    cursor.value = Math.min(Math.max(line, 0), last);
    view.reveal(cursor.value);
    if (peeked.value !== undefined)
      peeked.value = rows.at(cursor.value)?.row ?? peeked.value;
    box.value?.focus({ preventScroll: true });
  }
  /** Closes the preview, else clears the selection. */
  function dismiss(): boolean {
    if (peeked.value !== undefined) {
      peeked.value = undefined;
      box.value?.focus({ preventScroll: true });
    } else if (countOf(chosen.selection.value) > 0) chosen.clear();
    else return false;
    return true;
  }

  return (command) => {
    const from = cursor.value;
    switch (command.kind) {
      case "move":
        moveTo(from + command.by);
        if (command.isRange && from >= 0) range.extendFrom(from);
        return true;
      case "page":
        moveTo(from + command.by * view.page.value);
        return true;
      case "to":
        moveTo(command.end === "first" ? 0 : rows.lines.value.count - 1);
        return true;
      case "all":
        chosen.all();
        return true;
      case "none":
        return dismiss();
      case "open":
      case "group":
      case "choose":
      case "peek": {
        const line = rows.at(from);
        return line !== undefined && performOn(line, command.kind, commands);
      }
    }
  };
}

function performOn(
  line: DrawnLine,
  kind: "open" | "group" | "choose" | "peek",
  { parts, peeked, range, open }: CommandParts,
): boolean {
  const isHead = line.index < 0;
  if (kind === "open") open(line);
  else if (kind === "group" && isHead) parts.toggleGroup(groupOf(line));
  else if (kind === "group" || line.row === undefined) return false;
  else if (kind === "choose") range.choose(line, false);
  else peeked.value = peeked.value === undefined ? line.row : undefined;
  return true;
}

/** Section keys of groups have a prefix of one letter. */
function groupOf(line: DrawnLine): string {
  return line.section.key.slice(1);
}
