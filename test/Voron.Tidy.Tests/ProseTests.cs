namespace Voron.Tidy.Tests;

/// <summary>Comments, messages and documents use plain idiomatic English: none of the constructions that <see cref="ProseRules"/> lists.</summary>
public sealed class ProseTests
{
    /// <summary>One sentence for each construction.</summary>
    private static readonly string[] Planted =
    [
        "Whoever waits reads it.", "It wakes whomever it finds.", "Somebody waits for it.", "Anyone can read it.", "It stops nobody.",
        "Everybody waits.", "That is for no one.", "The thread lets go of it.", "The caller is told.", "The log tells of it.",
        "The caller hears of it.", "It ends by itself.", "The page is at home.", "It keeps so many pages.", "It fails for want of memory.",
        "A thread takes it on.", "The caller passes his buffer.", "The file is made anew.", "It looks whether a page is free.",
        "It drops what is not saved.", "It keeps what they read.", "The marker vouches for it.", "The rewrite file grows.",
        "The life number grows.", "A merged write fails.", "A merged operation fails.", "It reads a home page.", "It logs whole images.",
        "The keeper waits.", "That is how it comes about.", "The scan goes on.", "The row is past its time.", "The set moves to and fro.",
        "It runs beside writers.", "The clock stands still.", "The key is there already.",
    ];

    [Theory]
    [InlineData("src")]
    [InlineData("samples")]
    [InlineData("test")]
    public void Comments_and_messages_are_plain_English(string directory)
    {
        // The rules and their tests quote what they forbid.
        var files = SourceText.Load(directory).Where(file => !file.Path.StartsWith("Voron.Tidy.Tests/Prose", StringComparison.Ordinal));
        AssertNone(files.AsParallel().AsOrdered().SelectMany(file => ProseRules.Find($"{directory}/{file}", ProseText.OfSource(file))).ToList());
    }

    [Fact]
    public void Documents_are_plain_English() =>
        AssertNone(SourceText.Load("", "*.md").SelectMany(file => ProseRules.Find(file.Path, ProseText.OfMarkdown(file.Text))).ToList());

    [Fact]
    public void Comments_of_scripts_and_models_are_plain_English()
    {
        var scripts = SourceText.Load("", "*.sh").Concat(SourceText.Load("", "run"));
        var found = scripts.SelectMany(file => ProseRules.Find(file.Path, ProseText.OfScript(file.Text)));
        AssertNone([.. found, .. SourceText.Load("", "*.pml").SelectMany(file => ProseRules.Find(file.Path, ProseText.OfModel(file.Text)))]);
    }

    [Fact]
    public void Each_construction_is_found_in_its_sentence()
    {
        ProseRules.Missing(Planted).Should().BeEmpty();
        foreach (var sentence in Planted)
            ProseRules.Find("a.md", sentence).Should().ContainSingle("one construction is in {0}", sentence);
    }

    [Theory]
    [InlineData("// The file is told\nclass A;", 1)]
    [InlineData("// The caller is\n//   told.\nclass A;", 1)]
    [InlineData("\n/// <summary>Waits until the caller is\n/// told.</summary>\nclass A;", 2)]
    [InlineData("/* The caller\n * Is Told. */", 2)]
    [InlineData("class A { string _b = \"The caller of this is told.\"; }", 1)]
    [InlineData("class A { string _b = \"is told\"; }", 1)]
    [InlineData("class A { string _b = $\"The caller {1} is told {2} things.\"; }", 1)]
    [InlineData("class A { string _b = $\"{1} is told\"; }", 1)]
    [InlineData("class A\n{\n  void A_caller_is_told() { } }", 3)]
    [InlineData("class A { string _b = \"\"\"\n  The caller\n  is told.\n  \"\"\"; }", 3)]
    public void Prose_of_sources_is_found(string text, int line) =>
        ProseRules.Find("A.cs", ProseText.OfSource(new("A.cs", text)))
            .Should().ContainSingle().Which.Should().BeEquivalentTo($"A.cs:{line} \"is told\": is notified; learns; receives");

    [Theory]
    [InlineData("class Nobody { int nobody; string s = \"nobody\"; }")]
    [InlineData("/// <summary><c>Nobody</c> and <see cref=\"Nobody\"/> and `nobody`.</summary>\nclass A;")]
    [InlineData("// As `nobody` says, nobodys.\nclass A { string _b = \"a longer text and then\\nobody\"; }")]
    [InlineData("class A { string _b = $\"The caller of this {nobody} is not meant.\"; }")]
    public void Code_is_no_prose(string text) => ProseRules.Find("A.cs", ProseText.OfSource(new("A.cs", text))).Should().BeEmpty();

    [Fact]
    public void Prose_of_documents_is_found_and_code_is_not() =>
        ProseRules.Find("a.md", ProseText.OfMarkdown("`nobody`\n[page](nobody.md)\n```\nnobody\n```\n> That is for no\n> one.\nIt vouches.\n"))
            .Should().Equal(
                "a.md:6 \"no one\": name the actor: no thread, no caller, no process",
                "a.md:8 \"vouches\": confirm; guarantee; durability marker");

    [Fact]
    public void Prose_of_scripts_and_models_is_found_and_code_is_not()
    {
        ProseRules.Find("a.sh", ProseText.OfScript("#!/bin/sh\nnobody=${#nobody} # It is for no\n  # one.\necho \"a#nobody\"\n"))
            .Should().Equal("a.sh:2 \"no one\": name the actor: no thread, no caller, no process");
        ProseRules.Find("a.pml", ProseText.OfModel("byte nobody; /* It is for `nobody`, for no\n * one. */\nnobody++;\n"))
            .Should().Equal("a.pml:1 \"no one\": name the actor: no thread, no caller, no process");
    }

    [Fact]
    public void A_construction_is_allowed_before_words_that_make_it_a_good_one() =>
        ProseRules.Find("a.md", "as far as they can be told apart, and\nwas told\nfrom it; it was told.\n")
            .Should().ContainSingle().Which.Should().StartWith("a.md:3 ");

    private static void AssertNone(List<string> found) =>
        Assert.True(found.Count == 0, $"{found.Count} constructions that read badly, each with a better wording:\n{string.Join('\n', found)}");
}
