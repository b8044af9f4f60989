/**
 * A part of the page as data: the server renders it as HTML, the browser as elements. Both show the same, and in both
 * merchants' text stays text.
 */
export interface PageElement {
  readonly tag: string;
  /** Those that are there; one without a value is empty. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Tree[];
  /** In the browser: the element's event listeners by their properties, such as `onclick`. */
  readonly on?: Readonly<Record<string, (event: never) => void>>;
}

/** `false` and `undefined` render nothing. */
export type Tree = PageElement | string | false | undefined | readonly Tree[];

/** Attributes without a value are absent; functions are listeners. */
export type Attributes = Readonly<Record<string, string | boolean | undefined | ((event: never) => void)>>;

/** Creates an element; function attributes are listeners, named after their events. */
export function h(tag: string, attributes: Attributes = {}, ...children: readonly Tree[]): PageElement {
  const plain: Record<string, string> = {};
  const on: Record<string, (event: never) => void> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') on[`on${name}`] = value;
    else if (value !== undefined && value !== false) plain[name] = value === true ? '' : value;
  }
  return { tag, attributes: plain, children, on };
}

/** A tree without empty parts: text and elements, in order. */
export function flatten(tree: Tree): readonly (PageElement | string)[] {
  if (tree === false || tree === undefined || tree === '') return [];
  if (typeof tree === 'string') return [tree];
  if (isList(tree)) return tree.flatMap(flatten);
  return [tree];
}

/** A tree as JSON can hold it: without listeners and empty parts. */
export function wireTree(tree: Tree): Tree {
  return flatten(tree).map((item) =>
    typeof item === 'string'
      ? item
      : { tag: item.tag, attributes: item.attributes, children: [wireTree(item.children)] },
  );
}

function isList(tree: PageElement | readonly Tree[]): tree is readonly Tree[] {
  return Array.isArray(tree);
}
