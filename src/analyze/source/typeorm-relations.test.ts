import { expect, test } from 'vitest';
import { read } from './read-source.test-support.ts';

const entities = `import { AfterInsert, Brackets, Column, DataSource, Entity, JoinColumn, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
const source = new DataSource({});
@Entity('authors') class Author { @PrimaryGeneratedColumn() id: number; @Column() name: string;
  @OneToMany(() => Essay, (essay) => essay.author) essays: Essay[];
  @AfterInsert() async welcome() { if (this.name === 'x') await source.getRepository(Essay).delete({ author: { id: this.id } }); } }
@Entity('labels') class Label { @PrimaryGeneratedColumn() id: number; @Column() text: string;
  @ManyToMany(() => Essay, (essay) => essay.labels) essays: Essay[]; }
@Entity('essays') class Essay { @PrimaryGeneratedColumn() id: number; @Column() title: string;
  @ManyToOne(() => Author, (author) => author.essays, { eager: true }) @JoinColumn({ name: 'author_id' }) author: Author;
  @ManyToMany(() => Label, (label) => label.essays) @JoinTable({ name: 'essay_labels', joinColumn: { name: 'essay_id' }, inverseJoinColumn: { name: 'label_id' } }) labels: Label[]; }
const essays = source.getRepository(Essay); const authors = source.getRepository(Author);
`;

const essayWithAuthor =
  'SELECT essays.id, essays.title, essays.author_id AS author, author.id AS author_id, author.name AS author_name FROM essays LEFT JOIN authors AS author ON author.id = essays.author_id';

test.each([
  [
    'relations that are always read, whose rows are saved',
    `export async function f(id: number) { const essay = await essays.findOneBy({ id }); essay.author.name = 'y'; await authors.save(essay.author); }`,
    `  essays := ${essayWithAuthor} WHERE essays.id = $1 LIMIT $2  [id, 1]
  if is null(essays.author_id)
    return
  SELECT id, name FROM authors WHERE id = $1  [essays.author_id]
  transaction f
    UPDATE authors SET name = $1 WHERE id = $2  ['y', essays.author_id]`,
  ],
  [
    'a list of related rows, without the limit of the one row',
    `export async function f(id: number) { const author = await authors.findOne({ where: { id }, relations: ['essays'], loadEagerRelations: false }); for (const one of author.essays) await essays.delete(one.id); }`,
    `  authors := SELECT authors.id, authors.name, essays.id AS essays_id, essays.title AS essays_title, essays.author_id AS essays_author FROM authors LEFT JOIN essays ON essays.author_id = authors.id WHERE authors.id = $1  [id]
  for one of authors[]
    DELETE FROM essays WHERE id = $1  [one.essays_id]`,
  ],
  [
    'conditions on related rows',
    `export async function f(text: string) { await essays.find({ select: { id: true }, loadEagerRelations: false, where: { labels: { text }, author: { name: 'n' } } }); }`,
    `  SELECT essays.id FROM essays WHERE (EXISTS (SELECT 1 FROM labels AS essays_labels, essay_labels AS essays_labels_link WHERE essays_labels_link.essay_id = essays.id AND essays_labels.id = essays_labels_link.label_id AND essays_labels.text = $1) AND EXISTS (SELECT 1 FROM authors AS essays_author WHERE essays_author.id = essays.author_id AND essays_author.name = $2))  [text, 'n']`,
  ],
  [
    'joins of the query builder, and conditions in parentheses',
    `export async function f(ids: number[]) { return essays.createQueryBuilder('e').leftJoin('e.author', 'a', 'a.name <> :none', { none: '' }).innerJoinAndSelect('e.labels', 'l').select(['e.id']).where('a.id IN (:...ids)', { ids }).andWhere(new Brackets((qb) => qb.where('l.text = :t', { t: 'x' }).orWhere('e.title = :t', { t: 'x' }))).orderBy('l.text').getMany(); }`,
    `  SELECT essays.id FROM essays LEFT JOIN authors AS a ON a.id = essays.author_id AND a.name <> $1 INNER JOIN essay_labels AS l_essay_labels ON l_essay_labels.essay_id = essays.id INNER JOIN labels AS l ON l.id = l_essay_labels.label_id WHERE a.id = ANY($2) AND (l.text = $3 OR essays.title = $4) ORDER BY l.text ASC  ['', ids, 'x', 'x']`,
  ],
  [
    'what a caller gives: conditions, a key, a row',
    `export async function f(id: number, filter) { await essays.findOne(filter); await authors.findOne(id); await authors.save(filter); }`,
    `  ${essayWithAuthor} WHERE (essays.id = $1 OR essays.title = $2 OR essays.author_id = $3) LIMIT $4  [filter.id, filter.title, filter.author, 1]
  SELECT id, name FROM authors WHERE id = $1 LIMIT $2  [id, 1]
  authors2 := SELECT id, name FROM authors WHERE id = $1  [filter.id]
  if (count(authors2) <> 0)
    transaction f
      UPDATE authors SET name = $1 WHERE id = $2  [filter.name, filter.id]
  else
    transaction f2
      INSERT INTO authors (id, name) VALUES ($1, $2)  [filter.id, filter.name]`,
  ],
])('%s', (_, body, expected) => {
  expect(read({ 'a.ts': entities + body })).toBe(`unit f\n${expected}\n`);
});

test('a method of an entity has the columns of its row', () => {
  expect(read({ 'a.ts': `${entities} export { Author };` })).toBe(`unit Author.welcome
  if (this.name = 'x')
    DELETE FROM essays WHERE author_id = $1  [this.id]
`);
});
