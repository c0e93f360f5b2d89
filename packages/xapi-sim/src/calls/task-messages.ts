import type { CoreTable } from "./core.js";

/** The messages of class task that are more than fields. */
export const taskMessages: CoreTable = {
  "task.create": ({ core, session, origin }, params) => {
    const [label, description] = params as [string, string];
    return core.tasks.create(label, description, {
      session: session.ref,
      residentOn: origin.hostRef,
    });
  },
  "task.destroy": ({ core }, [ref]) => core.tasks.destroy(ref as string),
  "task.cancel": ({ core }, [ref]) => core.tasks.cancel(ref as string),
};
