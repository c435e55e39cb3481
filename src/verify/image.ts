/**
 * Images of rows as the verifier holds them: a scalar as it is, columns as a list of values beside a shape that all images with the same
 * columns share. Two images of one shape are compared position by position, without looking a name up.
 */
import { type RowImage, type Scalar, unknownMark, type Condition } from '../trace/index.ts';

/** The columns of images, in an order. Shapes are a tree: every one but the empty one is another with a column more. */
export class Shape {
  readonly columns: readonly string[];
  readonly #positions: ReadonlyMap<string, number>;
  readonly #next = new Map<string, Shape>();

  constructor(columns: readonly string[] = []) {
    this.columns = columns;
    this.#positions = new Map(columns.map((column, i) => [column, i]));
  }

  /** -1 where it has no such column. */
  positionOf(column: string): number {
    return this.#positions.get(column) ?? -1;
  }

  /** With a column more, which it does not have. */
  with(column: string): Shape {
    const known = this.#next.get(column);
    if (known !== undefined) return known;
    const next = new Shape([...this.columns, column]);
    this.#next.set(column, next);
    return next;
  }
}

export class Columns {
  readonly shape: Shape;
  readonly values: readonly Scalar[];

  constructor(shape: Shape, values: readonly Scalar[]) {
    this.shape = shape;
    this.values = values;
  }

  /** undefined: not known. */
  get(column: string): Scalar | undefined {
    const value = this.values[this.shape.positionOf(column)];
    return value === unknownMark ? undefined : value;
  }
}

/** What a row holds: as `RowImage`. */
export type Image = Scalar | Columns;

export function isColumns(image: Image | undefined): image is Columns {
  return typeof image === 'object' && image !== null;
}

/** @param empty the shape that all images of one verifier begin with */
export function toImage(image: RowImage, empty: Shape): Image {
  if (typeof image !== 'object' || image === null) return image;
  let shape = empty;
  const values: Scalar[] = [];
  for (const [column, value] of image) {
    shape = shape.with(column);
    values.push(value);
  }
  return new Columns(shape, values);
}

export function fromImage(image: Image): RowImage {
  if (!isColumns(image)) return image;
  return new Map(image.shape.columns.map((column, i) => [column, image.values[i]]));
}

/** Does the version's row agree with what was read, in the columns that both know? An unknown initial state agrees with everything. */
export function agrees(version: Image | undefined, read: Image): boolean {
  if (version === undefined || version === read) return true;
  if (!isColumns(version) || !isColumns(read)) return false;
  const isSame = version.shape === read.shape;
  for (let i = 0; i < read.values.length; i += 1) {
    const at = isSame ? i : version.shape.positionOf(read.shape.columns[i]);
    if (at < 0) continue;
    const known = version.values[at];
    if (known !== unknownMark && known !== read.values[i]) return false;
  }
  return true;
}

/** The row after a write on top of what it was. */
export function merged(before: Image | undefined, write: Image): Image {
  if (!isColumns(before) || !isColumns(write) || before.shape === write.shape) return write;
  let { shape } = before;
  const values = [...before.values];
  for (const [i, column] of write.shape.columns.entries()) {
    const at = shape.positionOf(column);
    const value = write.values[i];
    if (at >= 0) values[at] = value;
    else {
      shape = shape.with(column);
      values.push(value);
    }
  }
  return new Columns(shape, values);
}

/** With columns that were written with values that are not known. */
export function withUnknown(image: Columns, columns: readonly string[]): Columns {
  let { shape } = image;
  const values = [...image.values];
  for (const column of columns) {
    const at = shape.positionOf(column);
    if (at >= 0) values[at] = unknownMark;
    else {
      shape = shape.with(column);
      values.push(unknownMark);
    }
  }
  return new Columns(shape, values);
}

/** The read's columns that the write does not have; `null`: there are none. */
export function columnsBeside(read: Image, written: Image, empty: Shape): Columns | null {
  if (!isColumns(read) || !isColumns(written) || read.shape === written.shape) return null;
  let shape = empty;
  const values: Scalar[] = [];
  for (const [i, column] of read.shape.columns.entries()) {
    if (written.shape.positionOf(column) >= 0) continue;
    shape = shape.with(column);
    values.push(read.values[i]);
  }
  return values.length === 0 ? null : new Columns(shape, values);
}

/** The image with what a read of it has shown: columns that were not known. The same image where it tells nothing new. */
export function learned(image: Image | undefined, read: Image): Image {
  if (image === undefined) return read;
  if (!isColumns(image) || !isColumns(read)) return image;
  let { shape } = image;
  let values: Scalar[] | null = null;
  const isSame = shape === read.shape;
  for (let i = 0; i < read.values.length; i += 1) {
    const column: string = read.shape.columns[i];
    const at = isSame ? i : shape.positionOf(column);
    if (at >= 0 && (values ?? image.values)[at] !== unknownMark) continue;
    values ??= [...image.values];
    if (at >= 0) values[at] = read.values[i];
    else {
      shape = shape.with(column);
      values.push(read.values[i]);
    }
  }
  return values === null ? image : new Columns(shape, values);
}

/** Is there surely a row, for which every condition surely holds? */
export function qualifies(image: Image | undefined, where: readonly Condition[]): boolean {
  return image !== null && image !== undefined && where.every((condition) => satisfies(image, condition));
}

function satisfies(image: Image, { column, comparison, value }: Condition): boolean {
  const known = isColumns(image) ? image.get(column) : undefined;
  if (known === undefined || known === null || value === null || typeof known !== typeof value) return false;
  // Texts are compared by the collation of a column, which is not known: others than this one may be equal to it too.
  if (typeof known === 'string' && comparison !== '=') return false;
  switch (comparison) {
    case '=':
      return known === value;
    case '!=':
      return known !== value;
    case '<':
      return known < value;
    case '<=':
      return known <= value;
    case '>':
      return known > value;
    case '>=':
      return known >= value;
  }
}
