// Where runs differ. Lines are matched first, then the characters of lines that have no match.

/** Positions in `a` and in `b` that have no partner in the other; both are arrays of characters. */
export function differences(a, b) {
  const [linesA, linesB] = [split(a), split(b)];
  const pairs = align(linesA.map((l) => l.text), linesB.map((l) => l.text));
  const lost = [new Set(), new Set()];
  let [i, j] = [0, 0];
  for (const [m, n] of [...pairs, [linesA.length, linesB.length]]) {
    compare(linesA.slice(i, m), linesB.slice(j, n), lost);
    [i, j] = [m + 1, n + 1];
  }
  return lost;
}

function split(characters) {
  const lines = [{ start: 0, text: "", characters: [] }];
  characters.forEach((c, i) => {
    if (c === "\n") lines.push({ start: i + 1, text: "", characters: [] });
    else {
      lines.at(-1).characters.push(c);
      lines.at(-1).text += c;
    }
  });
  return lines;
}

function compare(as, bs, [lostA, lostB]) {
  const [a, b] = [flat(as), flat(bs)];
  const pairs = align(a.map((c) => c.text), b.map((c) => c.text));
  const [keptA, keptB] = [new Set(pairs.map((p) => p[0])), new Set(pairs.map((p) => p[1]))];
  a.forEach((c, i) => keptA.has(i) || lostA.add(c.position));
  b.forEach((c, i) => keptB.has(i) || lostB.add(c.position));
}

function flat(lines) {
  return lines.flatMap((l) => l.characters.map((text, i) => ({ text, position: l.start + i })));
}

/** The longest common subsequence as pairs of indices. */
export function align(a, b) {
  if (a.length * b.length > 4e6) return []; // too much to compare: all of it counts as different
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] =
        a[i] === b[j]
          ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}
