import { displayWidth, padEnd, padStart } from './display-text.ts';

/** Lines with aligned columns, two spaces apart; numbers to the right. The first row is the head and says nothing about that. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const layout = Array.from({ length: columns }, (_, column) => {
    const cells = rows.map((row) => row[column] ?? '');
    const isNumbers =
      cells.slice(1).some((cell) => /\d/.test(cell)) && cells.slice(1).every((cell) => /^[\d,.-]*$/.test(cell));
    return { width: Math.max(...cells.map(displayWidth)), pad: isNumbers ? padStart : padEnd };
  });
  return rows.map((row) =>
    layout
      .map(({ width, pad }, column) => pad(row[column] ?? '', width))
      .join('  ')
      .trimEnd(),
  );
}
