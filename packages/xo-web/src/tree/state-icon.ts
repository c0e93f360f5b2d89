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
const icons: Partial<Record<ObjectState["word"], LucideIcon>> = {
  running: Play,
  halted: Square,
  paused: CirclePause,
  suspended: Moon,
  working: LoaderCircle,
  lost: TriangleAlert,
  maintenance: Wrench,
};

export function stateIcon(word: ObjectState["word"]): LucideIcon {
  return icons[word] ?? Square;
}
