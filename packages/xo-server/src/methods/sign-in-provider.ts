import { Type } from "typebox";
import { defineOperation } from "./define-operation.js";

const Provider = Type.Object({
  id: Type.String({ description: "Such as password, ldap or oidc." }),
  name: Type.String({ description: "Label." }),
  kind: Type.String({
    description:
      "password: sign in with name and password; redirect: open `url` in the browser.",
  }),
  url: Type.Optional(Type.String()),
});

export const sessionGetProviders = defineOperation({
  name: "session.getProviders",
  summary: "Lists the sign-in methods.",
  params: Type.Object({}),
  result: Type.Object({ providers: Type.Array(Provider) }),
  permission: "none",
  rest: {
    method: "get",
    path: "/signin/providers",
    operationId: "GetSignInProviders",
    exposure: "allow",
    example: {
      providers: [
        { id: "password", name: "Password", kind: "password" },
        {
          id: "oidc",
          name: "Example",
          kind: "redirect",
          url: "/signin/oidc",
        },
      ],
    },
  },
  handler(_params, { services }) {
    const { directory, redirect } = services.signIn;
    return {
      providers: [
        { id: "password", name: "Password", kind: "password" },
        ...(directory === undefined
          ? []
          : [{ id: directory, name: "LDAP", kind: "password" }]),
        ...(redirect === undefined
          ? []
          : [
              {
                id: "oidc",
                name: redirect.label,
                kind: "redirect",
                url: "/signin/oidc",
              },
            ]),
      ],
    };
  },
});

/** Authentication providers, for the sign-in page. */
export const signInProviderOperations = [sessionGetProviders];
