/** The names of the characters from U+00A0 to U+00FF, in order. */
const LATIN_1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil " +
  "sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute " +
  "Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc " +
  "atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide " +
  "oslash ugrave uacute ucirc uuml yacute thorn yuml";

/** Greek letters, from U+0391 and U+03B1; U+03A2 is no letter. */
const GREEK =
  "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega";

/** The others of HTML 4, and those of HTML 5 that pages really use. */
const OTHERS =
  "amp& lt< gt> quot\" apos' OElig\u0152 oelig\u0153 Scaron\u0160 scaron\u0161 Yuml\u0178 fnof\u0192 circ\u02C6 tilde\u02DC " +
  "ensp\u2002 emsp\u2003 thinsp\u2009 zwnj\u200C zwj\u200D lrm\u200E rlm\u200F ndash\u2013 mdash\u2014 lsquo\u2018 rsquo\u2019 " +
  "sbquo\u201A ldquo\u201C rdquo\u201D bdquo\u201E dagger\u2020 Dagger\u2021 bull\u2022 hellip\u2026 permil\u2030 prime\u2032 " +
  "Prime\u2033 lsaquo\u2039 rsaquo\u203A oline\u203E frasl\u2044 euro\u20AC trade\u2122 larr\u2190 uarr\u2191 rarr\u2192 darr\u2193 " +
  "harr\u2194 crarr\u21B5 rArr\u21D2 hArr\u21D4 forall\u2200 part\u2202 exist\u2203 empty\u2205 nabla\u2207 isin\u2208 notin\u2209 " +
  "prod\u220F sum\u2211 minus\u2212 lowast\u2217 radic\u221A infin\u221E cap\u2229 cup\u222A int\u222B there4\u2234 sim\u223C " +
  "asymp\u2248 ne\u2260 equiv\u2261 le\u2264 ge\u2265 sub\u2282 sup\u2283 loz\u25CA spades\u2660 clubs\u2663 hearts\u2665 diams\u2666 " +
  "check\u2713 cross\u2717 star\u2606 starf\u2605 phone\u260E lbrace{ rbrace} lbrack[ rbrack] lpar( rpar) comma, period. colon: semi; " +
  "excl! quest? num# dollar$ percnt% ast* plus+ equals= sol/ bsol\\ commat@ lowbar_ grave` vert| hyphen\u2010 Tab\t NewLine\n";

const ENTITY = /&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,8})|([A-Za-z][A-Za-z0-9]{1,31}));?/g;

let names: ReadonlyMap<string, string> | undefined;

/** The text with HTML's character references resolved; an unknown one stays as it is. */
export function resolveEntities(text: string): string {
  if (!text.includes("&")) return text;
  names ??= namedCharacters();
  return text.replaceAll(ENTITY, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return names?.get(name) ?? whole;
    return characterOf(decimal === undefined ? parseInt(hexadecimal, 16) : Number(decimal));
  });
}

/** Numbers from 128 to 159 mean what they are in windows-1252 (HTML standard, 13.2.5.80). */
function characterOf(code: number): string {
  if (code >= 128 && code <= 159) return new TextDecoder("windows-1252").decode(Uint8Array.of(code));
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\uFFFD";
}

function namedCharacters(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  LATIN_1.split(" ").forEach((name, index) => found.set(name, String.fromCharCode(0xa0 + index)));
  GREEK.split(" ").forEach((name, index) => {
    found.set(name, String.fromCharCode(0x391 + index)).set(
      name.toLowerCase(),
      String.fromCharCode(0x3b1 + index),
    );
  });
  for (const entry of OTHERS.matchAll(/([A-Za-z]+4?)([^A-Za-z ]|\s(?= |$))/g)) {
    if (entry[1] !== undefined && entry[2] !== undefined) found.set(entry[1], entry[2]);
  }
  return found;
}
