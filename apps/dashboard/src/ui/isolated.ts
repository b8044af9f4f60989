/** A letter of a script that runs from right to left. */
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/**
 * A name for a text without markup, such as a title: one in a script from right to left is isolated, so that what stands
 * around it keeps its order. In markup use `<bdi>`.
 */
export function isolated(name: string): string {
  return rightToLeft.test(name) ? `\u2068${name}\u2069` : name;
}
