/**
 * The fields of the JSON object that a line is, as data: from one table of a format its strict reader and its scanner of bytes
 * (`line-scanner.ts`) take what they accept, and a test compares the table with the documentation.
 */

/**
 * Of words: one of them. `list`: an array, whose elements the format reads itself. `time`: an integer for the format's clock, perhaps longer than
 * a number holds. `any`: nothing looks at it.
 */
export type FieldKind =
  | 'text'
  | 'integer'
  | 'flag'
  | 'list'
  | 'time'
  | 'time or null'
  | 'any'
  | readonly (string | null)[];

export interface LineField {
  readonly kind: FieldKind;
  /** Default: it may be left out. */
  readonly isRequired?: true;
  /** Of the error for a value of another kind, without the name of the format. Default `shape`. */
  readonly code?: string;
  readonly meaning: string;
}

export type LineFields = Readonly<Record<string, LineField>>;

type ValueOf<Kind> = Kind extends keyof ValueOfKind
  ? ValueOfKind[Kind]
  : Kind extends readonly (infer Word)[]
    ? Word
    : never;

interface ValueOfKind {
  readonly text: string;
  readonly integer: number;
  readonly flag: boolean;
  readonly list: readonly unknown[];
  readonly time: unknown;
  readonly 'time or null': unknown;
  readonly any: unknown;
}

/** What a line says, field by field. */
export type LineValues<Fields extends LineFields> = {
  readonly [Name in keyof Fields]:
    | ValueOf<Fields[Name]['kind']>
    | (Fields[Name] extends { readonly isRequired: true } ? never : undefined);
};

/** Throws the error of a format. */
export type RefuseField = (name: string, code: string, message: string) => never;

/** The fields of a line, as JSON.parse gave them. @param format a value as messages show it */
export function lineValues<Fields extends LineFields>(
  given: Readonly<Record<string, unknown>>,
  fields: Fields,
  refuse: RefuseField,
  format: (value: unknown) => string,
): LineValues<Fields> {
  requireKnown(given, fields, refuse, format);
  for (const name in fields) {
    const { kind, isRequired = false, code = 'shape' } = fields[name] as LineField;
    const value = given[name];
    if (value === undefined && isRequired) return refuse(name, code, `the line needs ${name}, ${kindText(kind)}`);
    if (value === undefined || isOfKind(value, kind)) continue;
    // Rows and operations may be long.
    const but = typeof value === 'object' && value !== null ? '' : `, not ${format(value)}`;
    return refuse(name, code, `${name} should be ${kindText(kind)}${but}`);
  }
  return given as LineValues<Fields>;
}

/** A field under a name that is misspelt would be lost. */
export function requireKnown(
  given: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
  refuse: RefuseField,
  format: (value: unknown) => string,
): void {
  for (const name in given) {
    if (Object.hasOwn(fields, name)) continue;
    const names = `the fields are ${Object.keys(fields).join(', ')}`;
    refuse(name, 'field', `${format(name)} is no field of this line: ${names}`);
  }
}

function isOfKind(value: unknown, kind: FieldKind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'integer':
      return Number.isSafeInteger(value) && !Object.is(value, -0);
    case 'flag':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'time':
    case 'time or null':
    case 'any':
      return true;
    default:
      return (kind as readonly unknown[]).includes(value);
  }
}

/** What a value of this kind is, for errors and documentation. */
export function kindText(kind: FieldKind): string {
  if (typeof kind === 'string') return kindTexts[kind];
  const words = kind.map((word) => JSON.stringify(word));
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

const kindTexts = {
  text: 'a string',
  integer: 'an integer between -(2^53 - 1) and 2^53 - 1',
  flag: 'true or false',
  list: 'an array',
  time: 'an integer',
  'time or null': 'an integer or null',
  any: 'a value',
} as const;
