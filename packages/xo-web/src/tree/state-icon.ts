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

/** A form for each state, so that colour is not all that tells them apart. */
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
