using System.Net;

namespace Voron.Documents.Web;

/// <summary>Checks where a server is to listen. Kestrel takes a name that it cannot read for any name, and listens on all addresses.</summary>
internal static class ListenUrls
{
    private const string Example = "Use a URL such as http://127.0.0.1:5080, or several with semicolons between them.";

    /// <summary>Returns URLs in the form in which Kestrel reads them as they are meant.</summary>
    /// <exception cref="ArgumentException">One is no URL that the server can listen at.</exception>
    public static string Check(string urls)
    {
        ArgumentNullException.ThrowIfNull(urls);
        return string.Join(';', urls.Split(';', StringSplitOptions.TrimEntries).Select(CheckOne));
    }

    private static string CheckOne(string url)
    {
        if (url.StartsWith("https:", StringComparison.OrdinalIgnoreCase))
            throw new ArgumentException($"The server cannot listen at '{url}': it has no https. Use http, behind a proxy that has it.");
        if (!url.StartsWith("http://", StringComparison.OrdinalIgnoreCase) || !Uri.TryCreate(url, UriKind.Absolute, out var uri))
            throw new ArgumentException($"The server cannot listen at '{url}': it is no http URL with a host and a port of 0 to 65535. {Example}");
        if (uri.PathAndQuery != "/" || uri.Fragment.Length > 0 || uri.UserInfo.Length > 0)
            throw new ArgumentException($"The server cannot listen at '{url}': the URL may have a host and a port, and nothing else. {Example}");
        var isLocalhost = uri.Host.Equals("localhost", StringComparison.OrdinalIgnoreCase);
        if (!isLocalhost && !IPAddress.TryParse(uri.DnsSafeHost, out _))
        {
            throw new ArgumentException(
                $"The server cannot listen at '{url}': the host '{uri.Host}' is neither an IP address nor localhost. Use 0.0.0.0 for all addresses of this machine.");
        }

        // Kestrel would have to find a port that is free in IPv4 and in IPv6.
        if (isLocalhost && uri.Port == 0)
            throw new ArgumentException($"The server cannot listen at '{url}': a port of 0 needs an IP address. Use http://127.0.0.1:0.");
        return $"http://{(uri.HostNameType == UriHostNameType.IPv6 ? $"[{uri.DnsSafeHost}]" : uri.Host)}:{uri.Port}";
    }
}
