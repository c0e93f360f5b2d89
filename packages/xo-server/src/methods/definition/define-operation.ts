import type { TObject, TSchema } from "typebox";
import {
  defineOperation as define,
  type HandlerContext,
  type Operation,
  type OperationDefinition,
} from "../../operations/operation.js";
import type { Services } from "./services.js";

/** The context that handlers of the server's operations get. */
export type OperationContext = HandlerContext<Services>;

/** Declares an operation of the server; type checks that handler and schemas fit each other. */
export function defineOperation<P extends TObject, R extends TSchema>(
  operation: OperationDefinition<P, R, Services>,
): Operation<Services> {
  return define(operation);
}
