/** What a piece of text is, for those who show it in colour. The styler is passed in: nothing here knows of terminals. */
export type Style = 'name' | 'faint' | 'older' | 'bad' | 'good' | 'warning';

/** Must not change what is printed, only how it looks. */
export type Styler = (style: Style, text: string) => string;

/** No colour. */
export const plain: Styler = (_style, text) => text;
