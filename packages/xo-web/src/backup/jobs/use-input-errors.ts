import { computed, ref, type ComputedRef } from "vue";
import { useLocale } from "../../locale/use-locale.js";
import { reportInputErrorsOf, type ReportEntries } from "./report-entries.js";
import { reportText } from "./report-text.js";

type InputErrorsOf<Field extends string, InputError extends string> = Readonly<
  Partial<Record<Field, InputError | undefined>>
>;

interface FormInputErrors<Field extends string, InputError extends string> {
  readonly inputErrors: ComputedRef<InputErrorsOf<Field, InputError>>;
  /** The same; undefined before the first attempt to save. */
  readonly shown: ComputedRef<InputErrorsOf<Field, InputError> | undefined>;
  /** Texts for the fields of the report, none before the first attempt to save. */
  readonly shownReport: ComputedRef<ReturnType<typeof reportText>>;
  /** Text for a field, if it is shown. */
  readonly textFor: (field: Field) => string | undefined;
  /** To be called by each attempt to save. @returns whether there is no input error */
  readonly check: () => boolean;
}

/**
 * Input errors of the form of a job with reports.
 * @param texts the text for each input error
 */
export function useInputErrors<Field extends string, InputError extends string>(
  entries: ReportEntries,
  find: () => InputErrorsOf<Field, InputError>,
  texts: () => Readonly<Record<InputError, string>>,
): FormInputErrors<Field, InputError> {
  const { text } = useLocale();
  const wasTried = ref(false);
  const inputErrors = computed(find);
  const reportInputErrors = computed(() => reportInputErrorsOf(entries));
  const shown = computed(() =>
    wasTried.value ? inputErrors.value : undefined,
  );
  return {
    inputErrors,
    shown,
    shownReport: computed(() =>
      wasTried.value
        ? reportText(
            reportInputErrors.value,
            text.value.backup.jobs.inputErrors,
          )
        : {},
    ),
    textFor(field) {
      const inputError = shown.value?.[field];
      return inputError && texts()[inputError];
    },
    check() {
      wasTried.value = true;
      const all = { ...inputErrors.value, ...reportInputErrors.value };
      return Object.values(all).every((one) => one === undefined);
    },
  };
}
