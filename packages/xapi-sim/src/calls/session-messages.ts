import { XapiFailure } from "../xapi-failure.js";
import type { CoreContext, CoreTable } from "./core.js";

/** The messages of class session. */
export const sessionMessages: CoreTable = {
  "session.login_with_password": (context, params) => {
    requireCoordinator(context);
    const [userName, password, , originator] = params as string[];
    return authenticate(context, userName!, password!, () =>
      context.core.sessions.create(
        userName!,
        originator ?? "",
        context.origin.hostRef,
      ),
    );
  },
  "session.slave_local_login_with_password": (context, params) => {
    const [userName, password] = params as string[];
    return authenticate(context, userName!, password!, () =>
      context.core.sessions.createLocal(userName!),
    );
  },
  "session.logout": ({ core, session }) => core.sessions.end(session.ref),
  "session.local_logout": ({ core, session }) => core.sessions.end(session.ref),
  // Sessions here are those of the local superuser, which does not need the old password.
  "session.change_password": ({ core }, [, newPassword]) => {
    core.credentials.changePassword(newPassword as string);
  },
  "session.get_all_subject_identifiers": () => [],
  // The other side of this relation, the session of a task, is not in the data model that clients see.
  "session.get_tasks": ({ core }, [ref]) => {
    core.db.get("session", ref as string);
    return [...core.db.table("task").rows.values()]
      .filter(({ record }) => record["session"] === ref)
      .map((task) => task.ref);
  },
};

/** @throws XapiFailure HOST_IS_SLAVE with the coordinator's address */
export function requireCoordinator({
  core,
  origin,
}: Pick<CoreContext, "core" | "origin">): void {
  const elsewhere = core.pool.following();
  if (elsewhere !== undefined)
    throw new XapiFailure("HOST_IS_SLAVE", [elsewhere]);
  const coordinator = core.pool.coordinatorRef();
  if (origin.hostRef === coordinator) return;
  const address =
    core.pool.addressOf(coordinator) ??
    (core.db.find("host", coordinator)?.["address"] as string | undefined);
  throw new XapiFailure("HOST_IS_SLAVE", [address ?? ""]);
}

async function authenticate(
  { core }: CoreContext,
  userName: string,
  password: string,
  create: () => { readonly ref: string },
): Promise<string> {
  if (core.credentials.accepts(userName, password)) return create().ref;
  await new Promise<void>((resolve) => {
    core.clock.setTimeout(resolve, core.credentials.refusalMs);
  });
  throw refused(userName);
}

function refused(userName: string): XapiFailure {
  return new XapiFailure("SESSION_AUTHENTICATION_FAILED", [
    userName,
    "Authentication failure",
  ]);
}
