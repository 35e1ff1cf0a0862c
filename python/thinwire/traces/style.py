"""What the page looks like: on paper white and on dark screens, from a phone's width on."""

STYLE = """
:root{color-scheme:light dark;--back:#fbfbf9;--card:#fff;--text:#1d2327;--soft:#59646d;
--line:#dfe3e6;--a:#1769aa;--b:#c2570c;--c:#4d7c2f;--warn:#fff4d6;--warn-line:#d9a400}
@media(prefers-color-scheme:dark){:root{--back:#14181b;--card:#1c2226;--text:#e6e9eb;
--soft:#9aa6ae;--line:#323b41;--a:#6cb6f0;--b:#f0a060;--c:#9ccc73;--warn:#3a3115;
--warn-line:#b08a1a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.15rem;margin:2rem 0 .6rem}
h3{font-size:.95rem;margin:0 0 .4rem}
p{margin:.4rem 0;overflow-wrap:anywhere}
.soft{color:var(--soft)}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
.cards{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,9.5rem),1fr))}
.charts{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr))}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem;
min-width:0}
.card b{display:block;font-size:1.35rem;line-height:1.3}
.card span{color:var(--soft);font-size:.875rem}
.warn{background:var(--warn);border-left:4px solid var(--warn-line);padding:.5rem .75rem;
margin:.5rem 0}
.charts .card{max-width:34rem}
svg{display:block;width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:1}
.line{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}
.line.a{stroke:var(--a)}.line.b{stroke:var(--b)}.line.c{stroke:var(--c)}
rect.a{fill:var(--a)}rect.b{fill:var(--b)}rect.c{fill:var(--c)}
rect.empty{fill:var(--back)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.875rem;color:var(--soft)}
.key{display:inline-block;width:.8em;height:.8em;border-radius:.15em;margin-right:.4em}
.key.a{background:var(--a)}.key.b{background:var(--b)}.key.c{background:var(--c)}
.wide{overflow-x:auto;max-width:100%;background:var(--card);border:1px solid var(--line);
border-radius:.5rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
tr:last-child td{border-bottom:0}
td{min-width:6rem;overflow-wrap:break-word}
td code{overflow-wrap:break-word}
td.n{min-width:0}
td:first-child{min-width:8.5rem}
td b{display:block}
details{margin:.75rem 0}
summary{cursor:pointer;color:var(--soft)}
"""
