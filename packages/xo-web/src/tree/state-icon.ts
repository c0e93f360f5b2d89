import {
  CirclePause,
  LoaderCircle,
  Moon,
  Play,
  Square,
  TriangleAlert,
  Wrench,
  type LucideIcon,
} from "@lucide/vue";
import type { ObjectState } from "../objects/object-state.js";

/** A shape for each state, so that states differ not only by colour. */
const icons: Partial<Record<ObjectState["messageKey"], LucideIcon>> = {
  running: Play,
  halted: Square,
  paused: CirclePause,
  suspended: Moon,
  working: LoaderCircle,
  lost: TriangleAlert,
  maintenance: Wrench,
};

/** @param messageKey state of an object; unknown ones get a square */
export function stateIcon(messageKey: ObjectState["messageKey"]): LucideIcon {
  return icons[messageKey] ?? Square;
}
