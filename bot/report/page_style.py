"""The page's style sheet: system fonts, light and dark, a phone's width, and a form that prints."""

from bot.report import drawing

_PAGE = """
:root{color-scheme:light dark;--bg:#fff;--soft:#f6f8fa;--text:#1f2328;--muted:#59636e;
--line:#d1d9e0;--good:#1a7f37;--good-bg:#dafbe1;--bad:#cf222e;--bad-bg:#ffebe9;--bar:#0969da}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--soft:#151b23;--text:#f0f6fc;
--muted:#9198a1;--line:#3d444d;--good:#3fb950;--good-bg:#12261e;--bad:#f85149;--bad-bg:#25171c;--bar:#4493f8}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.55 -apple-system,
BlinkMacSystemFont,"Segoe UI",Helvetica,Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:28px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:19px;margin:40px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--line)}
h3{font-size:15px;margin:24px 0 8px}
p{margin:8px 0}p,li{overflow-wrap:anywhere}
.muted{color:var(--muted)}
.verdict{margin:20px 0;padding:14px 18px;border:1px solid;border-radius:8px}
.verdict strong{display:block;font-size:17px}
.verdict.accepted{border-color:var(--good);background:var(--good-bg)}
.verdict.refused{border-color:var(--bad);background:var(--bad-bg)}
.verdict.accepted strong,.good{color:var(--good)}
.verdict.refused strong,.bad{color:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:10px;
margin:16px 0;padding:0;list-style:none}
.cards li{padding:10px 14px;background:var(--soft);border:1px solid var(--line);border-radius:8px}
.cards b{display:block;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}
.cards span{color:var(--muted);font-size:13px}
figure{margin:16px 0;border:1px solid var(--line);border-radius:8px;overflow:hidden}
figure svg,svg.bar{display:block;width:100%;height:auto}
.narrow{display:none}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 36px;align-items:start}
.few{display:grid;grid-template-columns:repeat(auto-fill,minmax(440px,1fr));gap:0 16px}
.few figure{margin:8px 0}
svg.bar{width:110px;height:8px}
svg.bar path{fill:var(--line)}svg.bar rect{fill:var(--bar)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:7px 12px 7px 0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top;overflow-wrap:anywhere}
th{color:var(--muted);font-weight:600;white-space:nowrap}
tbody th{color:var(--text)}
.n{text-align:right;white-space:nowrap}
.w{width:55%}
.heat td,.heat th{padding:6px 5px;border:2px solid var(--bg);border-radius:4px}
.heat thead th{text-align:right}
.g1{background:#2da44e22}.g2{background:#2da44e44}.g3{background:#2da44e77}.g4{background:#2da44eaa}
.l1{background:#cf222e22}.l2{background:#cf222e44}.l3{background:#cf222e77}.l4{background:#cf222eaa}
.k,.good{white-space:nowrap;overflow-wrap:normal}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{padding:1px 5px;background:var(--soft);border-radius:4px;overflow-wrap:anywhere;
unicode-bidi:isolate}
pre{margin:8px 0;padding:12px 16px;background:var(--soft);border:1px solid var(--line);
border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
ul{margin:8px 0;padding-left:22px}
summary{cursor:pointer;font-weight:600}
details{margin:16px 0}
dl{display:grid;grid-template-columns:fit-content(260px) minmax(0,1fr);
gap:4px 18px;margin:8px 0;font-size:14px}
dt{color:var(--muted);overflow-wrap:anywhere}
dd{margin:0;overflow-wrap:anywhere}
@media (max-width:600px){main{padding:20px 14px 48px}dl{grid-template-columns:minmax(0,1fr)}
dd{margin-bottom:8px}table{font-size:12px}th,td{padding:6px 8px 6px 0}
thead th,thead th.n,.k{white-space:normal;overflow-wrap:normal}td.k{min-width:7em}
.broad{display:none}.narrow{display:block}
.pair{display:block}.cards{grid-template-columns:repeat(2,1fr)}
.heat td,.heat th{padding:5px 1px;font-size:9px;border-width:1px}.few{grid-template-columns:1fr}
.fall td:nth-child(3),.fall th:nth-child(3),.one td:first-child,.one th:first-child,
.one td:nth-child(3),.one th:nth-child(3){display:none}}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}tr,figure{break-inside:avoid}}
"""
STYLE = drawing.STYLE + _PAGE
