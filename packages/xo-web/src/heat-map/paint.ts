import type { FleetLayout, HostArea, Rect } from "./lay-out.js";
import { LEVELS, NO_FIGURE } from "./heat-scale.js";

/** Colors as CSS strings for canvases. */
export interface MapLook {
  /** Colours by level, from 1 on. */
  readonly levels: readonly string[];
  /** Colours of text on each level. */
  readonly inks: readonly string[];
  readonly none: string;
  readonly noneLine: string;
  readonly text: string;
  readonly muted: string;
}

export interface MapLevels {
  /** Levels by cell. */
  readonly cells: Uint8Array;
  /** Levels by area of a host. */
  readonly hosts: Uint8Array;
}

interface MapNames {
  readonly ofVm: (index: number) => string | undefined;
  /** Text for VMs without a host. */
  readonly notRunning: string;
}

const FONT = 'Inter, system-ui, "Segoe UI", Roboto, sans-serif';

/**
 * Draws the map: all of it, or only the cells whose level has changed.
 * @param context scaled to CSS pixels
 */
export function paintMap(
  context: CanvasRenderingContext2D,
  layout: FleetLayout,
  {
    look,
    levels,
    before,
    names,
  }: {
    readonly look: MapLook;
    readonly levels: MapLevels;
    /** Levels that are already drawn; undefined: none. */
    readonly before: MapLevels | undefined;
    readonly names: MapNames;
  },
): void {
  const none = hatch(context, look);
  const styles = [none, ...look.levels];
  if (before === undefined) {
    context.clearRect(0, 0, layout.width, layout.height);
    paintHeads(context, layout, look);
  }
  for (let level = NO_FIGURE; level <= LEVELS; level++) {
    context.fillStyle = styles[level]!;
    paintLevel(context, layout, { level, levels, before });
  }
  paintNames(context, layout, { look, levels, before, names });
  for (const [i, area] of layout.hosts.entries())
    if (before?.hosts[i] !== levels.hosts[i])
      paintHost(context, area, {
        fill: styles[levels.hosts[i]!]!,
        ink: inkOf(look, levels.hosts[i]!),
        notRunning: names.notRunning,
      });
}

interface LevelRequest {
  readonly level: number;
  readonly levels: MapLevels;
  readonly before: MapLevels | undefined;
}

function paintLevel(
  context: CanvasRenderingContext2D,
  { vms, rects }: FleetLayout,
  { level, levels: { cells }, before }: LevelRequest,
): void {
  for (let cell = 0; cell < vms.length; cell++) {
    if (cells[cell] !== level || before?.cells[cell] === level) continue;
    const at = 4 * cell;
    context.fillRect(
      rects[at]!,
      rects[at + 1]!,
      rects[at + 2]!,
      rects[at + 3]!,
    );
  }
}

/** Cells that have room for text. */
function paintNames(
  context: CanvasRenderingContext2D,
  { vms, rects }: FleetLayout,
  {
    look,
    levels,
    before,
    names,
  }: {
    readonly look: MapLook;
    readonly levels: MapLevels;
    readonly before: MapLevels | undefined;
    readonly names: MapNames;
  },
): void {
  context.font = `11px ${FONT}`;
  context.textBaseline = "top";
  for (let cell = 0; cell < vms.length; cell++) {
    const width = rects[4 * cell + 2]!;
    if (width < 44 || rects[4 * cell + 3]! < 18) continue;
    const level = levels.cells[cell]!;
    if (before?.cells[cell] === level) continue;
    const name = names.ofVm(vms[cell]!);
    if (name === undefined) continue;
    context.fillStyle = inkOf(look, level);
    const texts = fitted(context, name, width - 8);
    context.fillText(texts, rects[4 * cell]! + 4, rects[4 * cell + 1]! + 4);
  }
}

function paintHeads(
  context: CanvasRenderingContext2D,
  { pools }: FleetLayout,
  { text }: MapLook,
): void {
  context.font = `600 12px ${FONT}`;
  context.textBaseline = "middle";
  context.fillStyle = text;
  for (const { head, node, x, y, width } of pools)
    if (head > 0)
      context.fillText(
        fitted(context, node.name, width - 4),
        x + 2,
        y + head / 2,
      );
}

function paintHost(
  context: CanvasRenderingContext2D,
  { x, y, width, head, node }: HostArea,
  {
    fill,
    ink,
    notRunning,
  }: {
    readonly fill: string | CanvasPattern;
    readonly ink: string;
    readonly notRunning: string;
  },
): void {
  if (head === 0) return;
  context.fillStyle = fill;
  context.fillRect(x, y, width, head - 1);
  if (head < 12) return;
  context.font = `600 11px ${FONT}`;
  context.textBaseline = "middle";
  context.fillStyle = ink;
  const name = node.index < 0 ? notRunning : node.name;
  context.fillText(fitted(context, name, width - 8), x + 4, y + head / 2);
}

/** A frame around the selected area. */
export function paintFrame(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: Rect,
  colour: string,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(x - 1, y - 1, width + 2, height + 2);
}

function inkOf({ inks, muted }: MapLook, level: number): string {
  return level === NO_FIGURE ? muted : inks[level - 1]!;
}

/** Truncates a text to the available width. */
function fitted(
  context: CanvasRenderingContext2D,
  text: string,
  room: number,
): string {
  if (context.measureText(text).width <= room) return text;
  let length = Math.floor(
    (text.length * room) / context.measureText(text).width,
  );
  while (
    length > 0 &&
    context.measureText(`${text.slice(0, length)}…`).width > room
  )
    length--;
  return length > 0 ? `${text.slice(0, length)}…` : "";
}

/** Missing values are drawn with a pattern, which no value has. */
function hatch(
  context: CanvasRenderingContext2D,
  { none, noneLine }: MapLook,
): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d")!;
  pen.fillStyle = none;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = noneLine;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(0, 6);
  pen.lineTo(6, 0);
  pen.stroke();
  return context.createPattern(tile, "repeat") ?? none;
}
