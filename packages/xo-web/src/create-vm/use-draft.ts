import { ref, shallowRef, watch, type Ref, type ShallowRef } from "vue";
import type { Call } from "../api/server-connection.js";
import { draftFor, emptyDraft, type Draft, type Template } from "./draft.js";
import { readParts } from "./read-parts.js";

/** Another name for another shape: drafts of earlier versions do not say which disks a template only describes. */
const KEY = "new-vm-2";

interface Kept {
  readonly draft: Draft;
  /** The draft of the unchanged template, to detect changes. */
  readonly before: Draft;
  readonly templateName: string;
}

const nothing: Kept = {
  draft: emptyDraft,
  before: emptyDraft,
  templateName: "",
};

/** The form, stored in the session storage until the VMs are created. */
export function useDraft(call: Call): {
  readonly draft: Ref<Draft>;
  readonly before: ShallowRef<Draft>;
  readonly templateName: Ref<string>;
  readonly choose: (template: Template) => Promise<void>;
  readonly reset: () => void;
} {
  const kept = recallDraft();
  const draft = shallowRef(kept.draft);
  const before = shallowRef(kept.before);
  const templateName = ref(kept.templateName);
  let requested = "";

  async function choose(template: Template): Promise<void> {
    requested = template.id;
    const parts = await readParts(call, template);
    // Another template was chosen meanwhile.
    if (requested !== template.id) return;
    draft.value = draftFor(template, parts, draft.value);
    before.value = draft.value;
    templateName.value = template.name_label ?? template.id;
  }

  function reset(): void {
    draft.value = before.value = emptyDraft;
    templateName.value = "";
  }

  watch([draft, before], () => {
    keepDraft({
      draft: draft.value,
      before: before.value,
      templateName: templateName.value,
    });
  });
  return { draft, before, templateName, choose, reset };
}

function recallDraft(): Kept {
  try {
    const text = sessionStorage.getItem(KEY);
    const kept = text === null ? {} : (JSON.parse(text) as Partial<Kept>);
    return {
      draft: { ...emptyDraft, ...kept.draft },
      before: { ...emptyDraft, ...kept.before },
      templateName: kept.templateName ?? "",
    };
  } catch {
    // Not a draft of this version.
    return nothing;
  }
}

/** Cloud configurations may contain passwords and are not stored. */
function keepDraft(kept: Kept): void {
  const draft = { ...kept.draft, cloudConfig: "", networkConfig: "" };
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...kept, draft }));
  } catch {
    // The session storage is forbidden or full: the form is lost on reload.
  }
}
