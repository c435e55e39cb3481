import { styleText } from 'node:util';
import { plain, type Style, type Styler } from '../../report/index.ts';
import type { Host } from '../host.ts';

const formats: Record<Style, Parameters<typeof styleText>[0]> = {
  name: 'bold',
  faint: 'dim',
  older: 'yellow',
  bad: ['bold', 'red'],
  good: ['bold', 'green'],
  warning: 'yellow',
};

const widthMin = 60;
const widthMax = 140;

/** Colour and width for this output: plain and 80 columns where it is no terminal, so that it is the same everywhere. */
export function appearance(
  host: Pick<Host, 'env' | 'columns'>,
  wantsColour: boolean,
): { readonly style: Styler; readonly width: number } {
  const { NO_COLOR: none = '', FORCE_COLOR: force = '' } = host.env;
  const isColoured = wantsColour && none === '' && (force === '' ? host.columns !== null : force !== '0');
  return {
    // Whether this output takes colour is decided above, for a stream that may not be the process's own.
    style: isColoured ? (style, text) => styleText(formats[style], text, { validateStream: false }) : plain,
    width: Math.min(widthMax, Math.max(widthMin, host.columns ?? 80)),
  };
}
