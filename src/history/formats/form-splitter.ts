/**
 * Cuts a stream of EDN or JSON into the forms at its top, or, where the whole stream is one vector, list or array, into the elements of that. So
 * a history of any size is parsed transaction by transaction. Only brackets, strings and comments are looked at. Linear.
 */
import { InputError } from '../../base/index.ts';

export interface Form {
  readonly text: string;
  /** Where it begins, from 1. */
  readonly line: number;
}

/** A form that is longer would not fit in a string twice. */
const formCharsMax = 2 ** 27;

export class FormSplitter {
  readonly #isEdn: boolean;
  #text = '';
  #at = 0;
  #line = 1;
  /** Where the form begins that is not ended yet, and its line; -1: between forms. */
  #begin = -1;
  #beginLine = 1;
  #open: string[] = [];
  /** What closes the vector, list or array around everything; `null`: not known yet; '': there is none. */
  #around: string | null = null;
  #isAroundClosed = false;
  #inside: 'string' | 'comment' | null = null;
  #formCount = 0;
  #commas = 0;

  constructor(language: 'edn' | 'json') {
    this.#isEdn = language === 'edn';
  }

  /** @returns the forms that end in this piece. @throws InputError `history/syntax` */
  push(piece: string): Form[] {
    const forms: Form[] = [];
    this.#text += piece;
    // A token may be cut: an escape and a character take two.
    while (this.#at < this.#text.length - 1) {
      if (this.#inside === 'string' || this.#open.length > 0) this.#pass();
      this.#step(forms);
    }
    this.#dropRead();
    return forms;
  }

  /** @throws InputError `history/truncated` */
  finish(): Form[] {
    const forms: Form[] = [];
    this.#text += '\n';
    while (this.#at < this.#text.length) this.#step(forms);
    this.#line -= 1;
    if (this.#begin >= 0 || this.#inside === 'string') throw this.#cut('a form');
    if (this.#around !== null && this.#around !== '' && !this.#isAroundClosed) throw this.#cut(this.#around);
    return forms;
  }

  #cut(what: string): InputError {
    return new InputError('history/truncated', `the text ends before the end of ${what}`, { line: this.#line });
  }

  /** What is inside a form and neither begins nor ends anything; the last character is left. */
  #pass(): void {
    plain.lastIndex = this.#at;
    if (plain.test(this.#text)) this.#at = Math.min(plain.lastIndex, this.#text.length - 1);
  }

  #step(forms: Form[]): void {
    const char = this.#text[this.#at] as string;
    this.#at += 1;
    if (char === '\n') this.#line += 1;
    if (this.#inside !== null) return this.#stepInside(char, forms);
    switch (char) {
      case '"':
        this.#beginHere();
        this.#inside = 'string';
        return;
      case ';':
        if (this.#isEdn) {
          this.#endToken(forms);
          this.#inside = 'comment';
        } else this.#beginHere();
        return;
      case '\\':
        this.#beginHere();
        if (this.#isEdn) this.#skip();
        return;
      case '[':
      case '(':
      case '{':
        return this.#opened(char, forms);
      case ']':
      case ')':
      case '}':
        return this.#closed(char, forms);
      case ' ':
      case '\n':
      case '\r':
      case '\t':
      case '\f':
        return this.#endToken(forms);
      case ',':
        this.#endToken(forms);
        if (this.#begin < 0) this.#commas += 1;
        return;
      default:
        this.#beginHere();
    }
  }

  #stepInside(char: string, forms: Form[]): void {
    if (this.#inside === 'comment') {
      if (char === '\n') this.#inside = null;
      return;
    }
    if (char === '\\') this.#skip();
    else if (char === '"') {
      this.#inside = null;
      if (this.#open.length === 0) this.#endForm(forms);
    }
  }

  /** A character after a backslash. */
  #skip(): void {
    if (this.#text[this.#at] === '\n') this.#line += 1;
    this.#at += 1;
  }

  #opened(char: string, forms: Form[]): void {
    const close = closing[char] as string;
    if (this.#around === null && this.#begin < 0 && char !== '{' && (this.#isEdn || char === '[')) {
      this.#around = close;
      return;
    }
    if (this.#begin >= 0 && this.#open.length === 0 && !this.#isPrefix()) this.#endForm(forms);
    this.#beginHere();
    this.#open.push(close);
  }

  #closed(char: string, forms: Form[]): void {
    if (this.#open.length > 0) {
      const expected = this.#open.pop();
      if (expected !== char) throw this.#unexpected(char);
      if (this.#open.length === 0) this.#endForm(forms);
      return;
    }
    if (this.#begin >= 0) this.#endForm(forms);
    if (this.#around !== char || this.#isAroundClosed) throw this.#unexpected(char);
    if (!this.#isEdn && this.#commas > 0) throw this.#unexpected(',');
    this.#isAroundClosed = true;
  }

  /** A tag or a discard belongs to the form that follows. */
  #isPrefix(): boolean {
    return this.#isEdn && this.#text[this.#begin] === '#';
  }

  #endToken(forms: Form[]): void {
    if (this.#begin >= 0 && this.#open.length === 0 && !this.#isPrefix()) this.#endForm(forms, 1);
  }

  /** @param after how many characters of what follows were read */
  #endForm(forms: Form[], after = 0): void {
    const text = this.#text.slice(this.#begin, this.#at - after);
    forms.push({ text, line: this.#beginLine });
    this.#begin = -1;
    this.#formCount += 1;
    this.#commas = 0;
  }

  #beginHere(): void {
    if (this.#begin >= 0) return;
    this.#around ??= '';
    if (this.#isAroundClosed) throw this.#unexpected(this.#text[this.#at - 1] as string);
    const commas = this.#around !== '' && this.#formCount > 0 ? 1 : 0;
    if (!this.#isEdn && this.#commas !== commas) throw this.#unexpected(this.#text[this.#at - 1] as string);
    this.#begin = this.#at - 1;
    this.#beginLine = this.#line;
  }

  #unexpected(char: string): InputError {
    return new InputError('history/syntax', `${JSON.stringify(char)} stands where it should not`, { line: this.#line });
  }

  #dropRead(): void {
    const done = this.#begin >= 0 ? this.#begin : this.#at;
    this.#text = this.#text.slice(done);
    this.#at -= done;
    if (this.#begin >= 0) this.#begin = 0;
    if (this.#text.length > formCharsMax)
      throw new InputError('history/size', 'one form of it is longer than 128 Mi characters', {
        line: this.#beginLine,
      });
  }
}

const plain = /[^"\\;()[\]{}\n]+/y;

const closing: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };
