/** A function that a user names as a unit, where nothing in the sources says that it is one: `src/jobs/**:nightly`, `src/pay.ts:Payments.capture`. */
import { InputError } from '../../base/index.ts';

export interface EntryPoint {
  /** As it was given. */
  readonly text: string;
  /** Of the function, or `Class.method`. */
  readonly name: string;
  readonly matches: (file: string) => boolean;
}

/** @param text `GLOB:function`; `*` is any part of a name, `**` any folders @throws InputError `analyze/unit` */
export function parseEntryPoint(text: string): EntryPoint {
  const [, glob, name] = /^(.+):([\w$.]+)$/.exec(text) ?? [];
  if (glob === undefined || name === undefined)
    throw new InputError('analyze/unit', `${text} names no function: --unit 'src/jobs/**:nightly'`);
  const pattern = glob
    .replace(/^\.\//, '')
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*|\?/g, (wild) => wilds[wild] ?? wild);
  const whole = new RegExp(`^${pattern}$`);
  return { text, name, matches: (file) => whole.test(file) };
}

const wilds: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
