/**
 * The last line of a text that moirai writes carries the CRC-32 of all bytes before that line: a bit that was flipped, or an edit, may leave
 * another valid text, which would be judged as if it were the original. A text without the sum is read as it is.
 *
 *     {"moirai":"end","crc32":"cbf43926"}                 a history as JSON Lines
 *     # crc32 cbf43926                                    a history in the notation, where it is a comment
 *     {"moirai":"end","crc32":"cbf43926"}                 the choices of `serve` (`database/instance/choices.ts`)
 *     {"moirai":"mark","time":null,"crc32":"cbf43926"}    a trace: its last mark
 */
import { crc32, InputError } from '../base/index.ts';

export type SummedText = 'jsonl' | 'notation' | 'trace' | 'choices';

const jsonEnd = /(?:^|\n)(\{"moirai":"end","crc32":"([^"]*)"\})\r?\n?$/;
const lastLines: Readonly<Record<SummedText, RegExp>> = {
  jsonl: jsonEnd,
  choices: jsonEnd,
  notation: /(?:^|\n)(# crc32 (\S{8}))\r?\n?$/,
  trace: /(?:^|\n)(\{"moirai":"mark","time":null,"crc32":"([^"]*)"\})\r?\n?$/,
};
/** What is said where the sum is not that of the text, and how one keeps an edit. */
const refusals: Readonly<Record<SummedText, { readonly code: string; readonly keep: string }>> = {
  jsonl: { code: 'history/corrupt', keep: 'delete the checksum' },
  notation: { code: 'history/corrupt', keep: 'delete the checksum' },
  trace: { code: 'trace/corrupt', keep: 'delete the checksum' },
  choices: { code: 'choices/corrupt', keep: 'delete the checksum and write version 2 into the first line' },
};
/** What the line that ends a history as JSON Lines begins with. */
export const endStart = '{"moirai":"end",';
/** More than any of these lines is long. */
const lastBytesMax = 128;

/** The sum as a text has it. */
export function sumText(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}

/** The line, with its break, that ends a text whose bytes have this sum. */
export function endLine(form: Exclude<SummedText, 'trace'>, sum: number): string {
  return form === 'notation' ? `# crc32 ${sumText(sum)}\n` : `{"moirai":"end","crc32":"${sumText(sum)}"}\n`;
}

/** A text with the line that ends it. */
export function withEndLine(form: Exclude<SummedText, 'trace'>, text: string): string {
  return text + endLine(form, crc32(new TextEncoder().encode(text)));
}

/** A text in pieces: `push` each, then `check`. O(1) memory; the pieces are not kept. */
class EndSum {
  readonly #form: SummedText;
  /** Of all bytes but those of `#last`. */
  #sum = 0;
  #last: Uint8Array = new Uint8Array();

  constructor(form: SummedText) {
    this.#form = form;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length < lastBytesMax) {
      const last = Buffer.concat([this.#last, bytes]);
      const summed = Math.max(0, last.length - lastBytesMax);
      this.#sum = crc32(last.subarray(0, summed), this.#sum);
      this.#last = last.subarray(summed);
      return;
    }
    const end = bytes.length - lastBytesMax;
    this.#sum = crc32(bytes.subarray(0, end), crc32(this.#last, this.#sum));
    this.#last = bytes.slice(end);
  }

  /** @returns whether there is a sum @throws InputError where the last line has another sum */
  check(): boolean {
    const found = lastLines[this.#form].exec(Buffer.from(this.#last).toString('latin1'));
    const [whole = '', line = '', sum] = found ?? [];
    if (found === null) return false;
    const begin = found.index + whole.indexOf(line);
    if (sumText(crc32(this.#last.subarray(0, begin), this.#sum)) === sum) return true;
    const { code, keep } = refusals[this.#form];
    throw new InputError(
      code,
      `the text is not as it was written: its last line has another checksum; if it was edited on purpose, ${keep}`,
    );
  }
}

/** The same pieces. @throws InputError as `EndSum`, behind the last of them */
export async function* checkedSum(form: SummedText, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const sum = new EndSum(form);
  for await (const chunk of chunks) {
    sum.push(chunk);
    yield chunk;
  }
  sum.check();
}

/** Of a text at hand. @returns whether it has a sum @throws InputError as `EndSum` */
export function checkSum(form: SummedText, text: string): boolean {
  // Encoding all of a text that has no sum would be for nothing.
  if (!lastLines[form].test(text.slice(-lastBytesMax))) return false;
  const sum = new EndSum(form);
  sum.push(new TextEncoder().encode(text));
  return sum.check();
}
