/**
 * The last line of a text that moirai writes carries the CRC-32 of all bytes before that line: a bit that was flipped, or an edit, may leave
 * another valid text, which would be judged as if it were the original. A text without the sum is read as it is.
 *
 *     {"moirai":"end","crc32":"cbf43926"}                 a history as JSON Lines
 *     # crc32 cbf43926                                    a history in the notation, where it is a comment
 *     {"moirai":"mark","time":null,"crc32":"cbf43926"}    a trace: its last mark
 */
import { crc32 } from '../base/crc32.ts';
import { InputError } from '../base/input-error.ts';

export type SummedText = 'jsonl' | 'notation' | 'trace';

const lastLines: Readonly<Record<SummedText, RegExp>> = {
  jsonl: /(?:^|\n)(\{"moirai":"end","crc32":"([^"]*)"\})\r?\n?$/,
  notation: /(?:^|\n)(# crc32 (\S{8}))\r?\n?$/,
  trace: /(?:^|\n)(\{"moirai":"mark","time":null,"crc32":"([^"]*)"\})\r?\n?$/,
};
/** What the line that ends a history as JSON Lines begins with. */
export const endStart = '{"moirai":"end",';
/** More than any of these lines is long. */
const lastBytesMax = 128;

/** The sum as a text has it. */
export function sumText(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}

/** The line, with its break, that ends a history whose bytes have this sum. */
export function endLine(form: 'jsonl' | 'notation', sum: number): string {
  return form === 'jsonl' ? `{"moirai":"end","crc32":"${sumText(sum)}"}\n` : `# crc32 ${sumText(sum)}\n`;
}

/** A history's text with the line that ends it. */
export function withEndLine(form: 'jsonl' | 'notation', text: string): string {
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

  /** @throws InputError `history/corrupt`, `trace/corrupt` where the last line has another sum */
  check(): void {
    const found = lastLines[this.#form].exec(Buffer.from(this.#last).toString('latin1'));
    const [whole = '', line = '', sum] = found ?? [];
    if (found === null) return;
    const begin = found.index + whole.indexOf(line);
    if (sumText(crc32(this.#last.subarray(0, begin), this.#sum)) === sum) return;
    throw new InputError(
      this.#form === 'trace' ? 'trace/corrupt' : 'history/corrupt',
      'the text is not as it was written: its last line has another checksum; if it was edited on purpose, delete the checksum',
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

/** Of a text at hand. @throws InputError as `EndSum` */
export function checkSum(form: SummedText, text: string): void {
  // Encoding all of a text that has no sum would be for nothing.
  if (!lastLines[form].test(text.slice(-lastBytesMax))) return;
  const sum = new EndSum(form);
  sum.push(new TextEncoder().encode(text));
  sum.check();
}
