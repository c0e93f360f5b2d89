import { Type, type Static } from "typebox";

const timeOfDay = Type.String({
  pattern: "^([01]\\d|2[0-3]):[0-5]\\d$",
  description: "Time of the day, such as 22:00.",
});

/** The names of cron, in the order of its numbers. */
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** When work may be done, as clients send it. */
export const WindowsShape = Type.Object(
  {
    ranges: Type.Array(
      Type.Object(
        {
          days: Type.Optional(
            Type.Array(Type.Enum([...weekdays]), {
              minItems: 1,
              maxItems: 7,
              description:
                "Days on which the window begins; default: every day.",
            }),
          ),
          from: timeOfDay,
          to: timeOfDay,
        },
        { additionalProperties: false },
      ),
      {
        maxItems: 32,
        description:
          "Times of the day, such as 22:00 to 06:00; equal times mean the whole day. Empty: at any time.",
      },
    ),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          "Time zone (IANA name), such as Europe/Paris. Default: that of the server.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      "Maintenance windows. A step that would not end within a window is not started; between windows the run is suspended. Default: at any time.",
  },
);

export type Windows = Static<typeof WindowsShape>;
