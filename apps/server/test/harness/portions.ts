/** All entries of the portions, in order. */
export async function allOf<Entry>(portions: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const portion of portions) all.push(...portion);
  return all;
}
