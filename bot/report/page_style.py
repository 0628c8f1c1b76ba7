"""The page's style sheet: system fonts, light and dark, and a layout that prints."""

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--soft:#f6f8fa;--text:#1f2328;--muted:#59636e;
--line:#d1d9e0;--good:#1a7f37;--good-bg:#dafbe1;--bad:#cf222e;--bad-bg:#ffebe9}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--soft:#151b23;--text:#f0f6fc;
--muted:#9198a1;--line:#3d444d;--good:#3fb950;--good-bg:#12261e;--bad:#f85149;--bad-bg:#25171c}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.55 -apple-system,
BlinkMacSystemFont,"Segoe UI",Helvetica,Arial,sans-serif}
main{max-width:960px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:28px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:19px;margin:40px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--line)}
h3{font-size:15px;margin:24px 0 8px}
p{margin:8px 0;overflow-wrap:anywhere}
.muted{color:var(--muted)}
.verdict{margin:20px 0;padding:14px 18px;border:1px solid;border-radius:8px}
.verdict strong{display:block;font-size:17px}
.verdict.accepted{border-color:var(--good);background:var(--good-bg)}
.verdict.refused{border-color:var(--bad);background:var(--bad-bg)}
.verdict.accepted strong,.good{color:var(--good)}
.verdict.refused strong,.bad{color:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(190px,1fr));gap:10px;
margin:16px 0;padding:0;list-style:none}
.cards li{padding:10px 14px;background:var(--soft);border:1px solid var(--line);border-radius:8px}
.cards b{display:block;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}
.cards span{color:var(--muted);font-size:13px}
figure{margin:20px 0;border:1px solid var(--line);border-radius:8px;overflow:hidden}
figure svg{display:block;width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:7px 12px 7px 0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top;overflow-wrap:anywhere}
th{color:var(--muted);font-weight:600;white-space:nowrap}
tbody th{color:var(--text)}
.n{text-align:right;white-space:nowrap}
.w{width:75%}
.k,.good{white-space:nowrap;overflow-wrap:normal}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{padding:1px 5px;background:var(--soft);border-radius:4px;overflow-wrap:anywhere;
unicode-bidi:isolate}
pre{margin:8px 0;padding:12px 16px;background:var(--soft);border:1px solid var(--line);
border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
ul{margin:8px 0;padding-left:22px}
summary{cursor:pointer;font-weight:600}
details{margin:16px 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:8px 0;font-size:14px}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
@media (max-width:600px){main{padding:20px 14px 48px}dl{grid-template-columns:1fr}
dd{margin-bottom:8px}table{font-size:12px}th,td{padding:6px 8px 6px 0}
thead th{white-space:normal;overflow-wrap:normal}}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}tr,figure{break-inside:avoid}}
"""
