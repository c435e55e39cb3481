/** The answer of a replay as the first line of what is printed. */
import { printable, wrap } from './display-text.ts';
import { plain, type Style, type Styler } from './style.ts';

export interface Answer {
  readonly answer: 'still-fails' | 'fixed' | 'incompatible';
  readonly text: string;
}

export function formatAnswer(
  { answer, text }: Answer,
  { style = plain, width = 80 }: { readonly style?: Styler; readonly width?: number },
): string[] {
  return wrap(printable(text), width).map((line) => style(styles[answer], line));
}

const styles: Readonly<Record<Answer['answer'], Style>> = {
  'still-fails': 'bad',
  fixed: 'good',
  incompatible: 'warning',
};
