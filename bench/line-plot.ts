/** A line plot as SVG: a few series, a logarithmic axis of values. */
import { writeFile } from 'node:fs/promises';

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LinePlot {
  readonly title: string;
  readonly x: string;
  /** Its axis is logarithmic: values above 0. */
  readonly y: string;
  readonly series: readonly Series[];
}

const width = 640;
const height = 400;
const margin = { left: 70, right: 170, top: 40, bottom: 50 };
const colours = ['#1b6ca8', '#c44536', '#2e8540', '#8e44ad', '#b8860b', '#555555'];

export async function writePlot(file: string, plot: LinePlot): Promise<void> {
  await writeFile(file, linePlot(plot));
}

export function linePlot({ title, x, y, series }: LinePlot): string {
  const all = series.flatMap(({ points }) => points);
  const xMax = Math.max(1, ...all.map(([at]) => at));
  const powers = all.map(([, value]) => Math.log10(value));
  const low = Math.floor(Math.min(0, ...powers));
  const high = Math.max(low + 1, Math.ceil(Math.max(...powers)));
  const px = (at: number): number => margin.left + (at / xMax) * (width - margin.left - margin.right);
  const py = (power: number): number =>
    height - margin.bottom - ((power - low) / (high - low)) * (height - margin.top - margin.bottom);
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${margin.left}" y="20" font-size="14">${escaped(title)}</text>`,
    ...ticks.flatMap((power) => [
      `<path d="M${margin.left} ${py(power).toFixed(1)}H${width - margin.right}" stroke="#ddd"/>`,
      `<text x="${margin.left - 6}" y="${(py(power) + 4).toFixed(1)}" text-anchor="end">${10 ** power}</text>`,
    ]),
    ...Array.from({ length: Math.min(xMax, 5) + 1 }, (_, i) => Math.round((i * xMax) / Math.min(xMax, 5))).map(
      (at) => `<text x="${px(at).toFixed(1)}" y="${height - margin.bottom + 18}" text-anchor="middle">${at}</text>`,
    ),
    `<text x="${(width - margin.right + margin.left) / 2}" y="${height - 12}" text-anchor="middle">${escaped(x)}</text>`,
    `<text transform="translate(16 ${height / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>`,
    ...series.flatMap(({ name, points }, i) => {
      const colour = colours[i % colours.length];
      const path = points.map(
        ([at, value], n) => `${n === 0 ? 'M' : 'L'}${px(at).toFixed(1)} ${py(Math.log10(value)).toFixed(1)}`,
      );
      const labelY = margin.top + 18 * i;
      return [
        `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...points.map(
          ([at, value]) =>
            `<circle cx="${px(at).toFixed(1)}" cy="${py(Math.log10(value)).toFixed(1)}" r="2.5" fill="${colour}"/>`,
        ),
        `<text x="${width - margin.right + 12}" y="${labelY}" fill="${colour}">${escaped(name)}</text>`,
      ];
    }),
    '</svg>\n',
  ];
  return lines.join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
