namespace Voron.Tool.Reports;

/// <summary>
/// The style of the page: light or dark as the reader's system is, light on paper, with two columns of cards and the main figures of each tree on a
/// narrow screen.
/// </summary>
internal static class HtmlStyle
{
    private const string Light = """
        --back:#ffffff;--card:#f5f7fa;--text:#1b2430;--faint:#5b6675;--line:#d9dfe7;--rest:#e6eaf0;
        --leaf:#2f6db5;--branch:#5b9e48;--overflow:#c97a24;--nested:#8a4fb0;--warn:#b3261e;
        --u0:#e4e9ef;--u1:#c9dcf0;--u2:#9cc0e4;--u3:#6a9fd4;--u4:#3a78bb;--u5:#1c4f8c
        """;

    private const string Dark = """
        --back:#12161c;--card:#1c222b;--text:#e4e9f0;--faint:#98a4b3;--line:#323b47;--rest:#2a323d;
        --leaf:#5b9ce6;--branch:#7cc267;--overflow:#e39a4b;--nested:#b98ae0;--warn:#ff8a80;
        --u0:#232a34;--u1:#23405f;--u2:#2a5a8a;--u3:#3a7abb;--u4:#65a2e0;--u5:#a9d0f8
        """;

    /// <summary>The content of the style element.</summary>
    public const string Css = $$$"""
        :root{color-scheme:light dark;{{{Light}}}}
        @media screen and (prefers-color-scheme:dark){:root{{{{Dark}}}}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.5rem;max-width:1080px;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem;margin:0 0 .2rem;overflow-wrap:anywhere}
        h2{font-size:1.2rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
        p{margin:.4rem 0;max-width:75ch}
        .faint,figcaption,.legend{color:var(--faint);font-size:.9rem;overflow-wrap:anywhere}
        .cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:.7rem;margin-top:1rem}
        .cards div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem}
        .cards b{display:block;font-size:1.2rem;font-weight:600;white-space:nowrap}
        .cards span{color:var(--faint);font-size:.85rem}
        .wide{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
        th{color:var(--faint);font-weight:500;font-size:.85rem}
        th:first-child,td:first-child{text-align:left;padding-left:0;white-space:normal;overflow-wrap:anywhere;min-width:8rem}
        td.draw{min-width:90px;width:22%}
        svg{display:block;width:100%;height:auto}
        svg.bar{height:12px}
        svg.columns{height:150px;border-bottom:1px solid var(--line)}
        svg.key{display:inline-block;width:14px;height:14px;vertical-align:-2px;margin:0 1px}
        figure{margin:.6rem 0}
        figcaption{display:flex;justify-content:space-between}
        .leaf{fill:var(--leaf)}.branch{fill:var(--branch)}.overflow{fill:var(--overflow)}.nested{fill:var(--nested)}.rest{fill:var(--rest)}
        .u0{fill:var(--u0)}.u1{fill:var(--u1)}.u2{fill:var(--u2)}.u3{fill:var(--u3)}.u4{fill:var(--u4)}.u5{fill:var(--u5)}
        @media(max-width:600px){body{padding:1rem}.cards{grid-template-columns:repeat(2,1fr)}.cards b{font-size:1.05rem}
        th,td{padding:.3rem .4rem}td.draw{min-width:40px}th:first-child,td:first-child{min-width:6rem}.more{display:none}
        figcaption{flex-wrap:wrap;gap:0 1rem}}
        @media print{body{max-width:none;padding:0;font-size:11px}h2{break-after:avoid}tr,.cards div,figure{break-inside:avoid}
        rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}.wide{overflow:visible}}
        """;
}
