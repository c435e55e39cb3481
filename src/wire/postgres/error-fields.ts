/** The fields of ErrorResponse and NoticeResponse. Manual, "Error and Notice Message Fields". */
import type { BodyReader } from './body-reader.ts';
import type { MessageWriter } from './message-writer.ts';

/** Always text, also the numbers. `severity` may be translated, `severityName` never is. */
export type ErrorFields = { readonly [Name in ErrorFieldName]?: string };

export type ErrorFieldName = keyof typeof letters;

/** In the order in which PostgreSQL sends them. */
const letters = {
  severity: 'S',
  severityName: 'V',
  code: 'C',
  message: 'M',
  detail: 'D',
  hint: 'H',
  position: 'P',
  internalPosition: 'p',
  internalQuery: 'q',
  where: 'W',
  schema: 's',
  table: 't',
  column: 'c',
  dataType: 'd',
  constraint: 'n',
  file: 'F',
  line: 'L',
  routine: 'R',
} as const;

const fieldNames = Object.keys(letters) as ErrorFieldName[];
const nameOfLetter = new Map<number, ErrorFieldName>(fieldNames.map((name) => [letters[name].charCodeAt(0), name]));

/** Fields with `undefined` or without a value are left out. */
export function encodeErrorFields(writer: MessageWriter, fields: ErrorFields): void {
  for (const name of fieldNames) {
    const text = fields[name];
    if (text === undefined) continue;
    writer.uint8(letters[name].charCodeAt(0));
    writer.cstring(text);
  }
  writer.uint8(0);
}

/** Fields that the manual does not know are passed over, as it asks. */
export function decodeErrorFields(reader: BodyReader): ErrorFields {
  const fields: { [Name in ErrorFieldName]?: string } = {};
  for (let letter = reader.uint8(); letter !== 0; letter = reader.uint8()) {
    const text = reader.cstring();
    const name = nameOfLetter.get(letter);
    if (name !== undefined) fields[name] = text;
  }
  return fields;
}
